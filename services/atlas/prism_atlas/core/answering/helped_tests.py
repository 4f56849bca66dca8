"""Tests that use a symbol through a fixture or a helper of tests, which the references name."""

from collections.abc import Iterable

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES, Graph, Mask
from prism_atlas.core.hierarchy import CALLABLE
from prism_atlas.core.rendering import render_node
from prism_atlas.core.roles import Role
from prism_contracts.code import EdgeKind, EdgeStatus
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.symbols import HelpedTests, PlacedSymbol

HELPERS_MAX = 10
TESTS_MAX = 30
NODES_MAX = 500

_CALLS = EDGE_KINDS.index(EdgeKind.CALLS)
_RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)


def helped_tests(graph: Graph, sources: Iterable[int]) -> tuple[HelpedTests, ...]:
    """Returns the functions in tests among the sources of references that are no tests, with the tests that run them.

    Follows sure calls within tests, and requests of fixtures.
    """
    sources = list(sources)
    if not sources:
        return ()
    tests = set(graph.with_role(Role.TEST).tolist())
    helpers = [
        node
        for node in dict.fromkeys(_outermost(graph, source) for source in sources)
        if not graph.is_file(node) and node not in tests and CALLABLE[graph.symbols.kind[node]]
    ]
    if not helpers:
        return ()
    in_tests = graph.in_tests()
    found = []
    for helper in helpers[:HELPERS_MAX]:
        reached = sorted(_tests_running(graph, helper, tests, in_tests))
        if reached:
            found.append(
                HelpedTests(
                    helper=_placed(graph, helper),
                    tests=tuple(_placed(graph, test) for test in reached[:TESTS_MAX]),
                    total=len(reached),
                )
            )
    return tuple(found)


def _tests_running(graph: Graph, helper: int, tests: set[int], in_tests: Mask) -> set[int]:
    edges = graph.edges
    seen, todo, found = {helper}, [helper], set[int]()
    while todo and len(seen) < NODES_MAX:
        into = graph.edges_in(todo.pop())
        into = into[(edges.kind[into] == _CALLS) & (edges.status[into] == _RESOLVED)]
        for source in np.unique(edges.source[into]).tolist():
            node = _outermost(graph, source)
            if node in seen or graph.is_file(node) or not in_tests[node]:
                continue
            seen.add(node)
            (found.add if node in tests else todo.append)(node)
    return found


def _outermost(graph: Graph, node: int) -> int:
    """Returns the function around a local function; any other node is its own."""
    while not graph.is_file(node):
        parent = int(graph.symbols.parent[node])
        if parent < 0 or not CALLABLE[graph.symbols.kind[parent]]:
            break
        node = parent
    return node


def _placed(graph: Graph, node: int) -> PlacedSymbol:
    shown = render_node(graph, node)
    symbol = EnclosingSymbol(name=shown.symbol, start_line=shown.start_line, end_line=shown.end_line)
    return PlacedSymbol(file_path=shown.file_path, symbol=symbol)
