"""The dependents of symbols that change, direct and transitive.

changed lines of a diff ▶ the symbols that contain them ▶ their users, and the users of those
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.diffs import HunkSide
from prism_atlas.core.graph import EDGE_STATUSES, NONE, Graph, Numbers
from prism_atlas.core.hierarchy import constructed
from prism_atlas.core.traversal import Neighbors, TraversalStep, follow, nodes_of, step, traverse
from prism_contracts.code import EdgeKind, EdgeStatus

RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)
# Tests are searched at least this many edges away, however small the requested depth is.
TEST_DEPTH_MIN = 6
SIGNATURE_LINES_MAX = 30

USES = (
    EdgeKind.CALLS,
    EdgeKind.REFERENCES,
    EdgeKind.ASSIGNS,
    EdgeKind.ALIAS,
    EdgeKind.EXTENDS,
    EdgeKind.IMPLEMENTS,
)


# The rank of each node.
NodeRanks = NDArray[np.float32]


class TouchedSymbol(NamedTuple):
    """A symbol, or the top level of a file, that a change touches."""

    node: int
    signature: bool  # the change touches the lines of its signature


class Affected(NamedTuple):
    """Affected nodes as columns, nearest and most certain first."""

    nodes: Numbers
    distance: Numbers
    edge: Numbers  # the edge to the next node on the way to the change
    resolved: NDArray[np.bool_]  # all edges on the way are resolved
    in_test: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.nodes)

    def at(self, chosen: NDArray[Any] | slice) -> "Affected":
        """Returns a selection of the rows."""
        nodes, distance, edge, resolved, in_test = self
        return Affected(nodes[chosen], distance[chosen], edge[chosen], resolved[chosen], in_test[chosen])


def affected(
    graph: Graph, rank: NodeRanks, changed: Numbers, depth_max: int, *, candidates: bool
) -> Affected:
    """Returns all users of some symbols over at most `depth_max` edges, and tests over some more.

    Shown, but not followed further: overrides of a changed member, users that only an ambiguous name
    connects, and importers without a known use.
    """
    depth = test_depth(depth_max)
    sure, every = (
        traverse(
            graph,
            changed,
            _users(candidates=unsure),
            depth,
            partial(users_of_objects, graph, candidates=unsure),
        )
        for unsure in (False, candidates)
    )
    resolved = sure.distance != NONE
    distance = np.where(resolved, sure.distance, every.distance)
    edge = np.where(resolved, sure.edge, every.edge)
    _add_leaves(graph, changed, distance, edge, resolved, candidates=candidates)
    nodes = np.flatnonzero(distance > 0).astype(np.int32)
    in_test = graph.in_tests()[nodes]
    found = Affected(nodes, distance[nodes], edge[nodes], resolved[nodes], in_test)
    found = found.at((found.distance <= depth_max) | in_test)
    return found.at(np.lexsort((found.nodes, -rank[found.nodes], ~found.resolved, found.distance)))


def users_of_objects(graph: Graph, nodes: Numbers, *, candidates: bool) -> Neighbors:
    """Returns who makes an object, for the constructors among the nodes."""
    calling = step([EdgeKind.CALLS], forward=False, candidate_cost=int(candidates))
    return follow(graph, constructed(graph, nodes), [calling._replace(by_name=False)])


def test_depth(depth_max: int) -> int:
    """Returns the depth of the search for tests."""
    return max(depth_max, TEST_DEPTH_MIN)


def touched_symbols(
    graph: Graph, file: int, sides: Iterable[HunkSide], lines: Sequence[str]
) -> list[TouchedSymbol]:
    """Returns the innermost symbols that contain the changes; the file itself for changes outside symbols."""
    owners = _owners(graph, file, len(lines))
    signature: dict[int, bool] = {}
    for side in sides:
        for line in side.changed:
            node = int(owners[line])
            signature[node] = signature.get(node, False) or _in_signature(graph, node, line, lines)
        for line, indent in side.gaps:
            signature.setdefault(_owner_of_gap(graph, file, line, indent, lines), False)
    return [TouchedSymbol(node, changed) for node, changed in sorted(signature.items())]


def _users(*, candidates: bool) -> tuple[TraversalStep, ...]:
    """Steps to users of a symbol, and to what a member overrides, because its callers may run the member."""
    sure = int(candidates)
    return (
        step(USES, forward=False, candidate_cost=sure)._replace(by_name=False),
        step([EdgeKind.OVERRIDES], forward=True, candidate_cost=sure),
    )


def _add_leaves(
    graph: Graph,
    changed: Numbers,
    distance: Numbers,
    edge: Numbers,
    resolved: NDArray[np.bool_],
    *,
    candidates: bool,
) -> None:
    sure = int(candidates)
    using, importing = (
        follow(graph, changed, [step(kinds, forward=False, candidate_cost=sure)])
        for kinds in ((EdgeKind.OVERRIDES, *USES), (EdgeKind.IMPORTS,))
    )
    reached = np.append(np.flatnonzero(distance != NONE).astype(np.int32), using.nodes)
    alone = ~np.isin(graph.files_of(importing.nodes), graph.files_of(reached))
    edges = np.concatenate([using.edges, importing.edges[alone]])
    nodes = np.concatenate([using.nodes, importing.nodes[alone]])
    fresh = distance[nodes] == NONE
    # The last assignment wins, so the most certain edge of each node comes last.
    order = np.argsort(-graph.edges.status[edges[fresh]].astype(np.int8), kind="stable")
    edges, nodes = edges[fresh][order], nodes[fresh][order]
    distance[nodes], edge[nodes], resolved[nodes] = 1, edges, graph.edges.status[edges] == RESOLVED


def _owners(graph: Graph, file: int, lines: int) -> Numbers:
    """Returns by line number the innermost symbol, else the file."""
    symbols = nodes_of(graph, file)[:-1]
    start, end = graph.symbols.start_line[symbols], graph.symbols.end_line[symbols]
    owners = np.full(max(lines, int(end.max(initial=0))) + 2, graph.file_node(file), np.int32)
    for position in np.lexsort((start, start - end)):
        owners[start[position] : end[position] + 1] = symbols[position]
    return owners


def _in_signature(graph: Graph, node: int, line: int, lines: Sequence[str]) -> bool:
    """Whether a line is in the signature: from the symbol's name until all brackets are closed."""
    if graph.is_file(node):
        return False
    name_line = int(graph.symbols.name_line[node])
    depth = 0
    for number, text in enumerate(lines[name_line - 1 : name_line - 1 + SIGNATURE_LINES_MAX], name_line):
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if number == line:
            return True
        if depth <= 0:
            return False
    return False


def _owner_of_gap(graph: Graph, file: int, line: int, indent: int, lines: Sequence[str]) -> int:
    """Returns the innermost symbol around a gap.

    That is also a symbol which ends before the gap, if the missing lines are indented like its body.
    """
    symbols = nodes_of(graph, file)[:-1]
    start, end = graph.symbols.start_line[symbols], graph.symbols.end_line[symbols]
    around = symbols[(start <= line) & (end > line)]
    ending = [node for node in symbols[end == line] if _indent(graph, node, lines) < indent]
    inner = ending or around.tolist() or [graph.file_node(file)]
    return int(max(inner, key=lambda node: 0 if graph.is_file(node) else graph.symbols.start_line[node]))


def _indent(graph: Graph, node: int, lines: Sequence[str]) -> int:
    text = lines[graph.symbols.name_line[node] - 1]
    return len(text) - len(text.lstrip())
