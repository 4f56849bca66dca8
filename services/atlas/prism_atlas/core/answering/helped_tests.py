"""Tests that use a symbol through a fixture, a helper or a set-up of tests, which the references name."""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES, Graph, Mask
from prism_atlas.core.hierarchy import CALLABLE
from prism_atlas.core.reaching_tests import reaching_tests
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


class Helped(NamedTuple):
    """Helpers with the tests that run them, and how many further ones lead to tests."""

    shown: tuple[HelpedTests, ...] = ()
    left_out: int = 0


def helped_tests(graph: Graph, sources: Iterable[int]) -> Helped:
    """Returns the functions in tests among the sources of references that are no tests, with the tests that run them.

    Follows sure calls within tests, requests of fixtures, and what runs before or after each test of a class.
    """
    sources = list(sources)
    if not sources:
        return Helped()
    tests = set(graph.with_role(Role.TEST).tolist())
    helpers = [
        node
        for node in dict.fromkeys(_outermost(graph, source) for source in sources)
        if not graph.is_file(node) and node not in tests and CALLABLE[graph.symbols.kind[node]]
    ]
    if not helpers:
        return Helped()
    in_tests, every = graph.in_tests(), set(graph.with_role(Role.EVERY).tolist())
    behind = {
        one: {test.node for test in reaching_tests(graph, np.array([one], np.int32), candidates=False)}
        for one in islice((one for one in helpers if one in every), HELPERS_MAX)
    }
    dead = set[int]()
    leading = [one for one in helpers if behind.get(one) or _leads_to_test(graph, one, tests, in_tests, dead)]
    found = []
    for helper in leading[:HELPERS_MAX]:
        reached = sorted({*_tests_running(graph, helper, tests, in_tests), *behind.get(helper, ())})
        found.append(
            HelpedTests(
                helper=_placed(graph, helper),
                tests=tuple(_placed(graph, test) for test in reached[:TESTS_MAX]),
                total=len(reached),
            )
        )
    return Helped(tuple(found), len(leading) - len(found))


def _leads_to_test(graph: Graph, helper: int, tests: set[int], in_tests: Mask, dead: set[int]) -> bool:
    """Whether any test runs a helper. `dead` collects the functions that none runs, so that each is followed once."""
    seen = {helper}
    for _ in _tests_running(graph, helper, tests, in_tests, seen=seen, dead=dead):
        return True
    if len(seen) < NODES_MAX:
        dead |= seen
    return False


def _tests_running(
    graph: Graph,
    helper: int,
    tests: set[int],
    in_tests: Mask,
    *,
    seen: set[int] | None = None,
    dead: Collection[int] = (),
) -> Iterator[int]:
    """Yields the tests that run a helper. `seen` collects what was followed; what is `dead` is not."""
    edges = graph.edges
    seen = {helper} if seen is None else seen
    todo = [helper]
    while todo and len(seen) < NODES_MAX:
        into = graph.edges_in(todo.pop())
        into = into[(edges.kind[into] == _CALLS) & (edges.status[into] == _RESOLVED)]
        for source in np.unique(edges.source[into]).tolist():
            node = _outermost(graph, source)
            if node in seen or node in dead or graph.is_file(node) or not in_tests[node]:
                continue
            seen.add(node)
            if node in tests:
                yield node
            else:
                todo.append(node)


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
