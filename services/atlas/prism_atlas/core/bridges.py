"""Paths over calls without an edge: of methods of an interface of Go, and by names with too many definitions.

nodes that lead to the goal ▶ interfaces that they implement, call by call ▶ a path to one of these, or to a function
that calls a name which one of them has

A type of Go implements an interface by its methods alone, so no edge joins the two. A name that many definitions have
gets no edges either: of those, only members that implement a declaration are followed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, NONE, REFERENCE_KINDS, Graph, Numbers
from prism_atlas.core.paths import NodePath, find_paths
from prism_atlas.core.structural import declared_by
from prism_atlas.core.traversal import TraversalStep, follow, step, traverse
from prism_atlas.core.uses import may_be
from prism_contracts.code import EdgeKind, EdgeStatus, ReferenceKind

# Calls of interfaces that one path may pass.
LAYERS_MAX = 3
REACH_DEPTH_MAX = 8
# The nearest members whose declarations are looked up, and calls without an edge that are compared with names.
MEMBERS_MAX = 300
CALLS_MAX = 2_000

_CALL = REFERENCE_KINDS.index(ReferenceKind.CALL)


class ImpliedStep(NamedTuple):
    """A step that no edge has: from a declaration to a member that implements it, or from a call by its name."""

    source: int
    target: int
    kind: EdgeKind
    status: EdgeStatus
    line: int  # in the file of the source


class JoinedPath(NamedTuple):
    """A path whose steps are edges and bridges."""

    nodes: tuple[int, ...]
    steps: tuple[int | ImpliedStep, ...]


class _Layer(NamedTuple):
    """Nodes from which a goal can be reached, and the bridges that lead to them."""

    distance: Numbers
    goals: Numbers
    bridges: Mapping[int, ImpliedStep]  # by source: the goals of the next layer


def bridged_path(
    graph: Graph, starts: Numbers, goals: Numbers, steps: Sequence[TraversalStep], *, by_name: bool
) -> JoinedPath | None:
    """Returns the path with the fewest bridges over interfaces; `by_name` also tries a call by its name.

    `steps` lead forward. Returns None if there is none, or if no bridge is needed.
    """
    layers: list[_Layer] = []
    for _ in range(LAYERS_MAX):
        layer = _layer(graph, goals, steps, {node for one in layers for node in one.bridges})
        layers.append(layer)
        if not layer.bridges:
            break
        goals = np.array(sorted(layer.bridges), np.int32)
        found = find_paths(graph, starts, goals, steps, REACH_DEPTH_MAX).paths
        if found:
            return _joined(graph, _whole(found[0]), layers, steps)
    bridge = _call_by_name(graph, starts, layers, steps) if by_name else None
    if bridge is None:
        return None
    to_call = find_paths(graph, starts, np.array([bridge.source], np.int32), steps, REACH_DEPTH_MAX).paths
    if not to_call:
        return None
    number = next(n for n, layer in enumerate(layers) if layer.distance[bridge.target] != NONE)
    first = _whole(to_call[0])
    last = _Layer(layers[number].distance, layers[number].goals, {bridge.source: bridge})
    return _joined(graph, first, [*layers[:number], last], steps)


def _layer(graph: Graph, goals: Numbers, steps: Sequence[TraversalStep], known: set[int]) -> _Layer:
    back = [one._replace(forward=not one.forward) for one in steps]
    distance = traverse(graph, goals, back, REACH_DEPTH_MAX).distance
    nodes = np.flatnonzero((distance[: len(graph.symbols)] != NONE) & ~graph.in_tests()[: len(graph.symbols)])
    members = nodes[np.argsort(distance[nodes], kind="stable")][:MEMBERS_MAX].astype(np.int32)
    found: dict[int, ImpliedStep] = {}
    for declared, member in declared_by(graph, members):
        if distance[declared] == NONE and declared not in known:
            # Of members of one declaration, the nearest to the goal comes first.
            found.setdefault(declared, _to_member(graph, declared, member))
    return _Layer(distance, goals, found)


def _to_member(graph: Graph, declared: int, member: int) -> ImpliedStep:
    line = int(graph.symbols.name_line[declared])
    return ImpliedStep(declared, member, EdgeKind.OVERRIDES, EdgeStatus.RESOLVED, line)


def _call_by_name(
    graph: Graph, starts: Numbers, layers: Sequence[_Layer], steps: Sequence[TraversalStep]
) -> ImpliedStep | None:
    """Returns the call by name that joins the two ends with the fewest steps."""
    reached = traverse(graph, starts, steps, REACH_DEPTH_MAX).distance
    references = graph.references
    calls = np.flatnonzero((references.kind == _CALL) & (reached[references.source] != NONE))
    # A call of a name with too many definitions means none of them.
    calls = calls[~np.isin(calls, graph.meanings.reference)]
    calls = calls[np.argsort(reached[references.source[calls]], kind="stable")][:CALLS_MAX]
    best: tuple[int, int, int, int, int] | None = None
    for name in np.unique(references.name[calls]).tolist():
        named = calls[references.name[calls] == name]
        for member, number in _implementing(graph, graph.strings[name], layers):
            possible = named[may_be(graph, named, [member])]
            possible = possible[references.source[possible] != member]
            if possible.size:
                first = int(possible[0])
                source = int(references.source[first])
                cost = int(reached[source]) + int(layers[number].distance[member]) + number
                found = (cost, number, member, source, int(references.line[first]))
                best = min(best or found, found)
    if best is None:
        return None
    _, _, member, source, line = best
    return ImpliedStep(source, member, EdgeKind.CALLS, EdgeStatus.CANDIDATE, line)


def _implementing(graph: Graph, name: str, layers: Sequence[_Layer]) -> Iterator[tuple[int, int]]:
    """Yields the members of a name that implement a declaration and lead to a goal, with the layer of the goal."""
    named = graph.named(name)
    # Most names lead to no goal: only those that do are compared with declarations, which takes longer.
    leading = named[np.any([layer.distance[named] != NONE for layer in layers], axis=0)]
    for member in _members(graph, leading) if leading.size else ():
        yield member, next(n for n, layer in enumerate(layers) if layer.distance[member] != NONE)


def _members(graph: Graph, named: Numbers) -> list[int]:
    """Returns those of some definitions that implement a declaration."""
    implementing = follow(graph, named, [step([EdgeKind.OVERRIDES], forward=True)]).edges
    found = set(graph.edges.source[implementing].tolist())
    return sorted(found | {member for _, member in declared_by(graph, named)})


def _joined(
    graph: Graph, path: JoinedPath, layers: Sequence[_Layer], steps: Sequence[TraversalStep]
) -> JoinedPath | None:
    """Returns a path to a bridge of the last layer, continued to the goals of the first."""
    for layer in reversed(layers):
        bridge = layer.bridges.get(path.nodes[-1])
        if bridge is None:
            return None
        start = np.array([bridge.target], np.int32)
        further = find_paths(graph, start, layer.goals, steps, REACH_DEPTH_MAX).paths
        if not further:
            return None
        nodes, edges = further[0].nodes, further[0].edges
        path = JoinedPath((*path.nodes, *nodes), (*path.steps, bridge, *edges))
    return path


def _whole(path: NodePath) -> JoinedPath:
    return JoinedPath(path.nodes, path.edges)


def choices_of(graph: Graph, one: int | ImpliedStep) -> int:
    """Returns how many members the step of a path chooses from; 0 if it chooses from none."""
    if isinstance(one, ImpliedStep):
        named = graph.named(graph.strings[graph.symbols.name[one.target]])
        if one.kind is EdgeKind.CALLS:
            return len(_members(graph, named))
        return sum(declared == one.source for declared, _ in declared_by(graph, named))
    if EDGE_KINDS[graph.edges.kind[one]] is not EdgeKind.OVERRIDES:
        return 0
    declared = np.array([graph.edges.target[one]], np.int32)
    return len(np.unique(follow(graph, declared, [step([EdgeKind.OVERRIDES], forward=False)]).nodes))
