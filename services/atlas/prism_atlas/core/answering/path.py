"""Paths from one symbol or file to another."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from prism_atlas.core import paths
from prism_atlas.core.answering.common import nodes_at, notes_of, one_symbol, union
from prism_atlas.core.bridges import JoinedPath, NamedCall, choices_of, path_over_call
from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES, NONE, Graph, Numbers
from prism_atlas.core.paths import NodePath, PathSearchResult, find_paths
from prism_atlas.core.rendering import UsingLine, render_edge, render_node, render_nodes
from prism_atlas.core.traversal import TraversalStep, step, traverse, within
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import (
    FindPathReply,
    FindPathRequest,
    GraphEdge,
    GraphNode,
    GraphPath,
    OtherMeaning,
    PathSearch,
)

IMPORT, CANDIDATE_IMPORT = 1, 4
# How far both ends are followed if no path joins them.
REACH_DEPTH_MAX = 4
REACHING_SHOWN_MAX = 8
# Longest path of resolved edges that is searched if the requested depth has none.
RESOLVED_DEPTH_MAX = 40
# Other meanings of an uncertain step.
OTHERS_SHOWN_MAX = 3


class Ends(NamedTuple):
    """The two ends of a path, in a graph of symbols or of files."""

    graph: Graph
    source: Numbers
    target: Numbers


def find_path(graph: Graph, between: Graph, request: FindPathRequest, receipt: GraphReceipt) -> FindPathReply:
    """Searches along calls, then along all uses, then in the reverse direction, until there is a path.

    A resolved path, of any length and over any uses, replaces one with edges that only a name supports. Between two files it searches the graph of files. Raises SYMBOL_NOT_FOUND, SYMBOL_AMBIGUOUS.
    """
    named = [
        one_symbol(graph, receipt.repo, request.source, request.source_path),
        one_symbol(graph, receipt.repo, request.target, request.target_path),
    ]
    source, target = (resolved_name.nodes for resolved_name in named)
    if graph.is_file(int(source[0])) and graph.is_file(int(target[0])):
        ends = Ends(between, graph.files_of(source), graph.files_of(target))
        step_sets = {"files": _files(candidates=request.include_candidates)}
    else:
        ends = Ends(
            graph, *(union([within(graph, int(node)) for node in nodes]) for nodes in (source, target))
        )
        step_sets = {
            "calls": paths.calls(candidates=request.include_candidates),
            "uses": paths.uses(candidates=request.include_candidates),
        }
    searches: list[PathSearch] = []
    found = _first_found(ends, step_sets, request, searches, forward=True)
    if "uses" in step_sets and not (found and _is_resolved(ends.graph, found[0])):
        found = _resolved_path(ends, request, searches) or found
    bridged = None if found or "uses" not in step_sets else _bridged(ends, request)
    backward = () if found or bridged else _first_found(ends, step_sets, request, searches, forward=False)
    return FindPathReply(
        source=render_nodes(graph, source),
        target=render_nodes(graph, target),
        paths=(_render_bridged(ends.graph, bridged),)
        if bridged
        else tuple(_render(ends, path) for path in found),
        backward=tuple(_render(ends, path) for path in backward),
        searches=tuple(searches),
        reaching=() if found or bridged else _reaching(ends.graph, ends.target),
        notes=tuple(note for resolved_name in named for note in notes_of(resolved_name)),
        receipt=receipt,
    )


def followed(graph: Graph, source: Iterable[GraphNode]) -> list[int]:
    """Returns the functions that calls from the source reach, the nearest first."""
    starts = union([within(graph, node) for node in nodes_at(graph, source)] or [np.array([], np.int32)])
    reached = traverse(graph, starts, paths.calls(candidates=False), REACH_DEPTH_MAX).distance
    nodes = np.flatnonzero((reached != NONE) & ~graph.in_tests())
    return [int(node) for node in nodes[np.argsort(reached[nodes], kind="stable")]]


def sought_names(reply: FindPathReply) -> set[str]:
    """Returns the names of the target and of what reaches it: a call of one is near a path."""
    return {node.symbol.rpartition(".")[2] for node in (*reply.target, *reply.reaching)}


def _reaching(graph: Graph, target: Numbers) -> tuple[GraphNode, ...]:
    """Returns the nearest source symbols that reach the target."""
    back = [one._replace(forward=not one.forward) for one in paths.uses(candidates=False)]
    distance = traverse(graph, target, back, REACH_DEPTH_MAX).distance
    nodes = np.flatnonzero((distance > 0) & ~graph.in_tests())
    return render_nodes(
        graph, nodes[np.argsort(distance[nodes], kind="stable")][:REACHING_SHOWN_MAX].tolist()
    )


def lines_of(reply: FindPathReply) -> Iterator[UsingLine]:
    """Returns the lines of all edges of the paths."""
    for path in (*reply.paths, *reply.backward):
        for node, edge in zip(path.nodes, path.edges, strict=False):
            if edge.edge is not EdgeKind.OVERRIDES:
                yield UsingLine(node.file_path, edge.lines[0])


def _is_resolved(graph: Graph, path: NodePath) -> bool:
    return all(EDGE_STATUSES[graph.edges.status[edge]] is EdgeStatus.RESOLVED for edge in path.edges)


def _resolved_path(ends: Ends, request: FindPathRequest, searches: list[PathSearch]) -> tuple[NodePath, ...]:
    """Searches resolved edges alone, past the requested depth: a guess never hides what is known."""
    step_sets = {"calls": paths.calls(candidates=False), "uses": paths.uses(candidates=False)}
    sure = request.model_copy(update={"include_candidates": False, "depth": RESOLVED_DEPTH_MAX})
    further: list[PathSearch] = []
    found = _first_found(ends, step_sets, sure, further, forward=True)
    searches.extend(further if found else ())
    return found


def _bridged(ends: Ends, request: FindPathRequest) -> JoinedPath | None:
    """Returns a path over a call by a name that has too many definitions for an edge."""
    graph, source, target = ends
    if not request.include_candidates:
        return None
    return path_over_call(graph, source, target, paths.uses(candidates=True))


def _files(*, candidates: bool) -> tuple[TraversalStep, ...]:
    return (
        step(EDGE_KINDS, forward=True, cost=IMPORT, candidate_cost=CANDIDATE_IMPORT if candidates else 0),
    )


def _first_found(
    ends: Ends,
    step_sets: dict[str, tuple[TraversalStep, ...]],
    request: FindPathRequest,
    searches: list[PathSearch],
    *,
    forward: bool,
) -> tuple[NodePath, ...]:
    """Returns the paths of the first kind of edges that has any, and appends each search to `searches`."""
    graph, source, target = ends
    starts, goals = (source, target) if forward else (target, source)
    for name, steps in step_sets.items():
        search = find_paths(graph, starts, goals, steps, request.depth)
        searches.append(_render_search(search, name, request, forward=forward))
        if search.paths:
            return search.paths
    return ()


def _render_search(
    search: PathSearchResult, edges: str, request: FindPathRequest, *, forward: bool
) -> PathSearch:
    return PathSearch(
        forward=forward,
        edges=edges,
        candidates=request.include_candidates,
        visited=search.visited,
        found=len(search.paths),
    )


def _render(ends: Ends, path: NodePath) -> GraphPath:
    graph = ends.graph
    return GraphPath(
        nodes=render_nodes(graph, path.nodes),
        edges=tuple(render_edge(graph, edge) for edge in path.edges),
        others=() if _is_resolved(graph, path) else tuple(_others(ends, path)),
        choices=_choices(graph, path.edges),
    )


def _render_bridged(graph: Graph, path: JoinedPath) -> GraphPath:
    return GraphPath(
        nodes=render_nodes(graph, path.nodes),
        edges=tuple(
            _render_call(one) if isinstance(one, NamedCall) else render_edge(graph, one) for one in path.steps
        ),
        choices=_choices(graph, path.steps),
    )


def _render_call(call: NamedCall) -> GraphEdge:
    return GraphEdge(
        edge=EdgeKind.CALLS, status=EdgeStatus.CANDIDATE, strategy=Strategy.NAME, lines=(call.line,)
    )


def _choices(graph: Graph, steps: Iterable[int | NamedCall]) -> tuple[int, ...]:
    counts = tuple(choices_of(graph, one) for one in steps)
    return counts if any(counts) else ()


def _others(ends: Ends, path: NodePath) -> Iterator[OtherMeaning]:
    """Yields what else the uncertain edges of a path may mean, first what resolved edges lead to from the source."""
    graph, symbols = ends.graph, ends.graph.symbols
    steps = paths.uses(candidates=False)
    reached = traverse(graph, ends.source, steps, RESOLVED_DEPTH_MAX).distance != NONE
    for position, edge in enumerate(path.edges):
        target = path.nodes[position + 1]
        status, kind = EDGE_STATUSES[graph.edges.status[edge]], EDGE_KINDS[graph.edges.kind[edge]]
        if status is EdgeStatus.RESOLVED or kind is EdgeKind.OVERRIDES or graph.is_file(target):
            continue
        around = graph.edges_out(int(graph.edges.source[edge]))
        is_same = (graph.edges.line[around] == graph.edges.line[edge]) & (
            graph.edges.kind[around] == graph.edges.kind[edge]
        )
        beside = graph.edges.target[around][is_same & (graph.edges.target[around] < len(symbols))]
        named = graph.named(graph.strings[symbols.name[target]])
        same_kind = symbols.kind[named] == symbols.kind[target]
        others = np.union1d(beside[np.isin(beside, named)], named[same_kind & reached[named]])
        others = others[~np.isin(others, path.nodes)]
        for node in sorted(others.tolist(), key=lambda one: (not reached[one], one))[:OTHERS_SHOWN_MAX]:
            yield OtherMeaning(edge=position, node=render_node(graph, node), resolved=bool(reached[node]))
