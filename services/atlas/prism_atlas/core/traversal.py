"""Traversal of the graph, many nodes at a time. Visits only what it reaches."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES, NONE, STRATEGIES, Graph, Numbers
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy

BY_NAME = STRATEGIES.index(Strategy.NAME)

# By the codes of an edge's kind and status: the cost of following it; 0 means never.
Costs = NDArray[np.int32]


class TraversalStep(NamedTuple):
    """A step along edges: forward from their source, or backward from their target."""

    forward: bool
    costs: Costs
    by_name: bool = True  # also follow ambiguous matches by name


class Neighbors(NamedTuple):
    """Edges, and the node at the other end of each."""

    edges: Numbers
    nodes: Numbers


class Traversal(NamedTuple):
    """The result of a traversal. Both columns are by node."""

    distance: Numbers  # in edges; NONE for nodes that were not reached
    edge: Numbers  # that reached the node first; NONE for starts


def step(
    kinds: Iterable[EdgeKind], *, forward: bool, cost: int = 1, candidate_cost: int = 0
) -> TraversalStep:
    """Returns a step along edges of these kinds. Candidates are followed only if they have a cost."""
    costs = np.zeros((len(EDGE_KINDS), len(EDGE_STATUSES)), np.int32)
    rows = [EDGE_KINDS.index(kind) for kind in kinds]
    costs[rows, EDGE_STATUSES.index(EdgeStatus.RESOLVED)] = cost
    costs[rows, EDGE_STATUSES.index(EdgeStatus.CANDIDATE)] = candidate_cost
    return TraversalStep(forward, costs)


def follow(graph: Graph, nodes: Numbers, steps: Sequence[TraversalStep]) -> Neighbors:
    """Returns the neighbors of the nodes by any of the steps."""
    found = [_follow(graph, nodes, one) for one in steps]
    return Neighbors(
        np.concatenate([one.edges for one in found]),
        np.concatenate([one.nodes for one in found]),
    )


def traverse(
    graph: Graph,
    starts: Numbers,
    steps: Sequence[TraversalStep],
    depth_max: int,
    also: Callable[[Numbers], Neighbors] | None = None,
) -> Traversal:
    """Breadth-first search. Among edges of equal distance, resolved ones win, then the first.

    `also` returns further neighbors of nodes, beside those that the steps reach.
    """
    distance = np.full(graph.nodes, NONE, np.int32)
    came_by = np.full(graph.nodes, NONE, np.int32)
    distance[starts] = 0
    frontier = np.unique(starts)
    for depth in range(1, depth_max + 1):
        edges, nodes = follow(graph, frontier, steps)
        if also is not None:
            more = also(frontier)
            edges, nodes = np.append(edges, more.edges), np.append(nodes, more.nodes)
        fresh = distance[nodes] == NONE
        edges, nodes = edges[fresh], nodes[fresh]
        if not nodes.size:
            break
        order = np.lexsort((edges, graph.edges.status[edges], nodes))
        frontier, first = np.unique(nodes[order], return_index=True)
        distance[frontier] = depth
        came_by[frontier] = edges[order[first]]
    return Traversal(distance, came_by)


def other_end(graph: Graph, edge: int, node: int) -> int:
    """Returns the end of an edge that is not `node`."""
    source, target = int(graph.edges.source[edge]), int(graph.edges.target[edge])
    return source if target == node else target


def nodes_of(graph: Graph, file: int) -> Numbers:
    """Returns the symbols of a file, and the file."""
    return np.append(np.asarray(graph.symbols_of(file), np.int32), np.int32(graph.file_node(file)))


def within(graph: Graph, node: int) -> Numbers:
    """Returns a symbol with all symbols in it; for a file the file with all its symbols."""
    if graph.is_file(node):
        return nodes_of(graph, graph.file_of(node))
    symbols = graph.symbols_of(graph.file_of(node))
    parents = graph.symbols.parent[symbols.start : symbols.stop] - symbols.start
    inside = np.zeros(len(symbols), np.bool_)
    inside[node - symbols.start] = True
    while (grown := inside | ((parents >= 0) & inside[np.maximum(parents, 0)])).sum() > inside.sum():
        inside = grown
    return (symbols.start + np.flatnonzero(inside)).astype(np.int32)


def _follow(graph: Graph, nodes: Numbers, one: TraversalStep) -> Neighbors:
    edges = graph.edges
    first = edges.first_out if one.forward else edges.first_in
    positions = _runs(first[nodes], first[nodes + 1])
    found = positions.astype(np.int32) if one.forward else edges.by_target[positions]
    found = found[one.costs[edges.kind[found], edges.status[found]] > 0]
    if not one.by_name:
        found = found[edges.strategy[found] != BY_NAME]
    return Neighbors(found, (edges.target if one.forward else edges.source)[found])


def _runs(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns all numbers from each start to its end, one run after the other."""
    lengths = ends - starts
    shifts = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return shifts + np.arange(len(shifts))
