"""Paths over a call by a name with too many definitions, which has no edge.

nodes that lead to the goal ▶ those of them that override or implement a member ▶ a call of their name that the start
reaches ▶ the path over the call
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, NONE, REFERENCE_KINDS, Graph, Numbers
from prism_atlas.core.paths import find_paths
from prism_atlas.core.traversal import TraversalStep, follow, step, traverse
from prism_atlas.core.uses import may_be
from prism_contracts.code import EdgeKind, ReferenceKind

REACH_DEPTH_MAX = 8
# Calls without an edge that are compared with names.
CALLS_MAX = 2_000

_CALL = REFERENCE_KINDS.index(ReferenceKind.CALL)


class NamedCall(NamedTuple):
    """A call by the name of a member, which no edge has. `line` is in the file of the source."""

    source: int
    target: int
    line: int


class JoinedPath(NamedTuple):
    """A path whose steps are edges and a call by name."""

    nodes: tuple[int, ...]
    steps: tuple[int | NamedCall, ...]


def path_over_call(
    graph: Graph, starts: Numbers, goals: Numbers, steps: Sequence[TraversalStep]
) -> JoinedPath | None:
    """Returns the shortest path over a call without an edge. `steps` lead forward."""
    call = _call_by_name(graph, starts, goals, steps)
    if call is None:
        return None
    before = find_paths(graph, starts, np.array([call.source], np.int32), steps, REACH_DEPTH_MAX).paths
    behind = find_paths(graph, np.array([call.target], np.int32), goals, steps, REACH_DEPTH_MAX).paths
    if not (before and behind):
        return None
    one, other = before[0], behind[0]
    return JoinedPath((*one.nodes, *other.nodes), (*one.edges, call, *other.edges))


def _call_by_name(
    graph: Graph, starts: Numbers, goals: Numbers, steps: Sequence[TraversalStep]
) -> NamedCall | None:
    """Returns the call by name that joins the two ends with the fewest steps."""
    back = [one._replace(forward=not one.forward) for one in steps]
    distance = traverse(graph, goals, back, REACH_DEPTH_MAX).distance
    reached = traverse(graph, starts, steps, REACH_DEPTH_MAX).distance
    references = graph.references
    calls = np.flatnonzero((references.kind == _CALL) & (reached[references.source] != NONE))
    # A call of a name with too many definitions means none of them.
    calls = calls[~np.isin(calls, graph.meanings.reference)]
    calls = calls[np.argsort(reached[references.source[calls]], kind="stable")][:CALLS_MAX]
    best: tuple[int, NamedCall] | None = None
    for name in np.unique(references.name[calls]).tolist():
        named = calls[references.name[calls] == name]
        for member in _leading(graph, graph.strings[name], distance):
            possible = named[may_be(graph, named, [member])]
            possible = possible[references.source[possible] != member]
            if possible.size:
                first = int(possible[0])
                source = int(references.source[first])
                call = NamedCall(source, member, int(references.line[first]))
                cost = int(reached[source]) + int(distance[member])
                best = min(best or (cost, call), (cost, call))
    return best[1] if best else None


def _leading(graph: Graph, name: str, distance: Numbers) -> Iterator[int]:
    """Yields the members of a name that override or implement another one and lead to a goal."""
    named = graph.named(name)
    yield from _members(graph, named[distance[named] != NONE])


def _members(graph: Graph, named: Numbers) -> list[int]:
    overriding = follow(graph, named, [step([EdgeKind.OVERRIDES], forward=True)]).edges
    return sorted(set(graph.edges.source[overriding].tolist()))


def choices_of(graph: Graph, one: int | NamedCall) -> int:
    """Returns how many members the step of a path chooses from; 0 if it chooses from none."""
    if isinstance(one, NamedCall):
        return len(_members(graph, graph.named(graph.strings[graph.symbols.name[one.target]])))
    if EDGE_KINDS[graph.edges.kind[one]] is not EdgeKind.OVERRIDES:
        return 0
    declared = np.array([graph.edges.target[one]], np.int32)
    return len(np.unique(follow(graph, declared, [step([EdgeKind.OVERRIDES], forward=False)]).nodes))
