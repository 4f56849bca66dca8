"""Puts components into rows, each above what it depends on. Takes pairs of numbers, returns numbers.

Components that need each other are one group, and share a layer. A layer that is too wide becomes several rows.
"""

from collections.abc import Iterable, Sequence


def groups_of(count: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """Returns the group of each node: the lowest node that it reaches and that reaches it."""
    reached = _reached(count, links)
    return [_leader(node, reached) for node in range(count)]


def layers_of(count: int, links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Returns the nodes by layer, from above: all that a node depends on is below it, or in its group.

    Nodes without a link are in the last layer.
    """
    reached = _reached(count, links)
    group = [_leader(node, reached) for node in range(count)]
    depth = [0] * count
    # Whoever reaches more comes first: between groups that is the order of dependencies.
    for source in sorted(range(count), key=lambda node: (-reached[node].bit_count(), group[node], node)):
        if source == group[source]:
            members = [node for node in range(count) if group[node] == source]
            for one, target in links:
                if group[one] == source and group[target] != source:
                    depth[group[target]] = max(depth[group[target]], depth[source] + 1)
            for node in members:
                depth[node] = depth[source]
    linked = {node for link in links for node in link}
    last = max(depth, default=0) + 1
    layers: list[list[int]] = [[] for _ in range(last + 1)]
    for node in range(count):
        layers[depth[node] if node in linked else last].append(node)
    return [layer for layer in layers if layer]


def rows_of(layer: Sequence[int], widths: Sequence[float], width_max: float) -> list[list[int]]:
    """Splits a layer into rows of similar width, none wider than the limit unless one box is."""
    total = sum(widths[node] for node in layer)
    share = total / max(1, -(-total // width_max))
    rows: list[list[int]] = [[]]
    width = 0.0
    for node in layer:
        if rows[-1] and (width >= share or width + widths[node] > width_max):
            rows.append([])
            width = 0.0
        rows[-1].append(node)
        width += widths[node]
    return rows


def _reached(count: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """Returns what each node reaches, itself included, as bits."""
    reached = [1 << node for node in range(count)]
    for source, target in links:
        reached[source] |= 1 << target
    for between in range(count):
        for node in range(count):
            if reached[node] >> between & 1:
                reached[node] |= reached[between]
    return reached


def _leader(node: int, reached: Sequence[int]) -> int:
    return next(one for one in range(node + 1) if reached[node] >> one & 1 and reached[one] >> node & 1)
