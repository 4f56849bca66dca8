"""The cheapest paths from one set of nodes to another.

costs to the goal, computed backwards from it ▶ paths from the start, the most promising first

The second step is A* with an exact heuristic, so paths come out in order of cost and nothing else is visited
(Hart, Nilsson and Raphael 1968). The second and third path are the next cheapest.
"""

import heapq
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import NONE, Graph, Numbers
from prism_atlas.core.hierarchy import constructed, with_constructors
from prism_atlas.core.layers import layers_of
from prism_atlas.core.traversal import TraversalStep, follow, step
from prism_contracts.code import EdgeKind

DEPTH_MAX = 12
PATHS_MAX = 3
# A further path may cost at most this much more than the cheapest.
DETOUR_MAX = 4
# Partial paths that are examined before the search gives up.
PARTIAL_PATHS_MAX = 20_000

# A candidate costs more than the longest resolved path, so that a guess never hides what is known.
CALL, CANDIDATE_CALL = 1, 100
USE, CANDIDATE_USE = 2, 104
FAR = np.iinfo(np.int32).max
CLOSED = -1  # cost of a node that no path may pass

USES = (EdgeKind.REFERENCES, EdgeKind.ASSIGNS, EdgeKind.ALIAS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)


class NodePath(NamedTuple):
    """A chain of edges, each of which starts where the one before ends."""

    nodes: tuple[int, ...]  # one more than edges
    edges: tuple[int, ...]
    cost: int


class PathSearchResult(NamedTuple):
    """The paths that a search found, and how much of the graph it visited."""

    paths: tuple[NodePath, ...]
    visited: int  # nodes from which the goal can be reached


def calls(*, candidates: bool) -> tuple[TraversalStep, ...]:
    """Steps from a caller to what it calls, and to overrides that may run instead."""
    dear = CANDIDATE_CALL if candidates else 0
    return (
        step([EdgeKind.CALLS], forward=True, cost=CALL, candidate_cost=dear),
        step([EdgeKind.OVERRIDES], forward=False, cost=CALL, candidate_cost=dear),
    )


def uses(*, candidates: bool) -> tuple[TraversalStep, ...]:
    """Steps along calls, and along all other uses."""
    dear = CANDIDATE_USE if candidates else 0
    return (*calls(candidates=candidates), step(USES, forward=True, cost=USE, candidate_cost=dear))


def find_paths(
    graph: Graph, starts: Numbers, goals: Numbers, steps: Sequence[TraversalStep], depth_max: int
) -> PathSearchResult:
    """Returns the cheapest simple paths: at most `PATHS_MAX`, each of at most `depth_max` edges.

    A path passes through tests and examples only if it starts in one: nothing else calls them. To make an
    object is to call its constructor.
    """
    costs = np.full(graph.nodes, FAR, np.int32)
    is_aside = graph.in_tests() | (layers_of(graph) != NONE)[graph.node_files()]
    if not is_aside[starts].any():
        costs[is_aside] = CLOSED
    _compute_costs(graph, costs, goals, starts, steps)
    costs[costs == CLOSED] = FAR
    visited = int((costs != FAR).sum())
    return PathSearchResult(tuple(_cheapest(graph, starts, costs, steps, depth_max)), visited)


def _compute_costs(
    graph: Graph, costs: Numbers, goals: Numbers, starts: Numbers, steps: Sequence[TraversalStep]
) -> None:
    """Write to each node the cost of the cheapest path from it to a goal, as far as needed.

    Visits nodes by cost, all nodes of one cost at once (Dial 1969).
    """
    back = [one._replace(forward=not one.forward) for one in steps]
    costs[goals] = 0
    waiting = {0: [goals]}
    enough = FAR
    while waiting and (cost := min(waiting)) <= enough:
        nodes = np.unique(np.concatenate(waiting.pop(cost)))
        nodes = nodes[costs[nodes] == cost]
        types = constructed(graph, nodes)
        types = types[costs[types] > cost]
        costs[types] = cost
        nodes = np.append(nodes, types)
        if enough == FAR and np.isin(nodes, starts).any():
            enough = cost + DETOUR_MAX
        for one in back:
            edges, others = follow(graph, nodes, [one])
            found = cost + one.costs[graph.edges.kind[edges], graph.edges.status[edges]]
            for price in np.unique(found).tolist():
                cheaper = np.unique(others[(found == price) & (costs[others] > price)])
                costs[cheaper] = price
                waiting.setdefault(price, []).append(cheaper)


def _cheapest(
    graph: Graph, starts: Numbers, costs: Numbers, steps: Sequence[TraversalStep], depth_max: int
) -> list[NodePath]:
    found: list[NodePath] = []
    serial = count()
    # Ordered by total cost, then the longest first, then by insertion.
    heap = [
        (int(costs[node]), 0, next(serial), NodePath((int(node),), (), 0))
        for node in starts
        if costs[node] != FAR
    ]
    heapq.heapify(heap)
    for _ in range(PARTIAL_PATHS_MAX):
        if not heap or len(found) == PATHS_MAX:
            break
        total, _, _, path = heapq.heappop(heap)
        if found and total > found[0].cost + DETOUR_MAX:
            break
        if costs[path.nodes[-1]] == 0:
            found.append(path)
        elif len(path.edges) < depth_max:
            for longer in _extensions(graph, path, costs, steps):
                total = longer.cost + int(costs[longer.nodes[-1]])
                heapq.heappush(heap, (total, -len(longer.edges), next(serial), longer))
    return found


def _extensions(
    graph: Graph, path: NodePath, costs: Numbers, steps: Sequence[TraversalStep]
) -> list[NodePath]:
    """Returns a path extended by one edge: the cheapest to each node from which the goal can be reached."""
    best: dict[int, tuple[int, int]] = {}
    last = with_constructors(graph, path.nodes[-1])
    for one in steps:
        edges, others = follow(graph, last, [one])
        there = np.flatnonzero((costs[others] != FAR) & ~np.isin(others, path.nodes))
        prices = one.costs[graph.edges.kind[edges[there]], graph.edges.status[edges[there]]]
        for node, price, edge in zip(
            others[there].tolist(), prices.tolist(), edges[there].tolist(), strict=True
        ):
            best[node] = min(best.get(node, (price, edge)), (price, edge))
    return [
        NodePath((*path.nodes, node), (*path.edges, edge), path.cost + price)
        for node, (price, edge) in best.items()
    ]
