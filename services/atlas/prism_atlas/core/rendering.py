"""Renders nodes and edges for replies."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import (
    EDGE_KINDS,
    EDGE_STATUSES,
    NONE,
    STRATEGIES,
    SYMBOL_KINDS,
    Graph,
    Numbers,
)
from prism_contracts.code import CALLABLE_KINDS
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.graph import GraphEdge, GraphNode
from prism_resolver.parameters import OVERLOADS

LINES_SHOWN_MAX = 12
# The same for the top level of a test file, where each line may be in a test of its own.
TEST_LINES_SHOWN_MAX = 40


class UsingLine(NamedTuple):
    """A line that an edge refers to."""

    path: str
    number: int


def render_node(graph: Graph, node: int) -> GraphNode:
    """Returns a symbol, or the top level of a file."""
    file = graph.file_of(node)
    path = graph.path(file)
    test = graph.is_in_test(node)
    if graph.is_file(node):
        return GraphNode(file_path=path, line=1, test=test)
    symbols = graph.symbols
    return GraphNode(
        file_path=path,
        line=int(symbols.name_line[node]),
        start_line=int(symbols.start_line[node]),
        end_line=int(symbols.end_line[node]),
        symbol=graph.strings[symbols.qualified_name[node]],
        kind=SYMBOL_KINDS[symbols.kind[node]],
        parameters=parameters_of(graph, node),
        test=test,
        outer=_outer(graph, node),
    )


def parameters_of(graph: Graph, node: int) -> str:
    """Returns the parameters of an overloaded function; empty for any other node."""
    symbols, strings = graph.symbols, graph.strings
    if graph.is_file(node) or not symbols.contract[node]:
        return ""
    if strings[graph.files.language[symbols.file[node]]] not in OVERLOADS:
        return ""
    same = graph.qualified(strings[symbols.qualified_name[node]])
    return strings[symbols.contract[node]] if len(np.unique(symbols.contract[same])) > 1 else ""


def render_nodes(graph: Graph, nodes: Iterable[int]) -> tuple[GraphNode, ...]:
    """Returns several nodes."""
    return tuple(render_node(graph, int(node)) for node in nodes)


def _outer(graph: Graph, node: int) -> EnclosingSymbol | None:
    """Returns the outermost function whose lines contain a symbol that is local to it."""
    symbols, line = graph.symbols, graph.symbols.name_line[node]
    found, above = NONE, int(symbols.parent[node])
    while above != NONE:
        is_around = symbols.start_line[above] <= line <= symbols.end_line[above]
        if is_around and SYMBOL_KINDS[symbols.kind[above]] in CALLABLE_KINDS:
            found = above
        above = int(symbols.parent[above])
    if found == NONE:
        return None
    return EnclosingSymbol(
        name=graph.strings[symbols.qualified_name[found]],
        kind=SYMBOL_KINDS[symbols.kind[found]],
        start_line=int(symbols.start_line[found]),
        end_line=int(symbols.end_line[found]),
    )


def render_edge(graph: Graph, edge: int, lines: Sequence[int] = ()) -> GraphEdge:
    """Returns an edge that represents others, which are on these lines."""
    edges = graph.edges
    return GraphEdge(
        edge=EDGE_KINDS[edges.kind[edge]],
        status=EDGE_STATUSES[edges.status[edge]],
        strategy=STRATEGIES[edges.strategy[edge]],
        lines=tuple(lines[: _shown_max(graph, int(edges.source[edge]))]) or (int(edges.line[edge]),),
        total_lines=max(len(lines), 1),
    )


def _shown_max(graph: Graph, source: int) -> int:
    is_tests = graph.is_file(source) and graph.is_in_test(source)
    return TEST_LINES_SHOWN_MAX if is_tests else LINES_SHOWN_MAX


def render_edges(graph: Graph, edges: Numbers) -> tuple[GraphEdge, ...]:
    """Returns the edges between two ends, merged by kind, in order of kind."""
    order = np.lexsort((edges, graph.edges.status[edges], graph.edges.kind[edges]))
    edges = edges[order]
    _, starts = np.unique(graph.edges.kind[edges], return_index=True)
    rendered = []
    for group in np.split(edges, starts[1:]) if edges.size else ():
        lines = np.unique(graph.edges.line[group]).tolist()
        rendered.append(render_edge(graph, int(group[0]), lines))
    return tuple(rendered)
