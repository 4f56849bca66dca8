"""The same graph, seen from further off: a node is a file, and an edge says that one file uses the other."""

from dataclasses import fields, replace

import numpy as np

from prism_atlas.core.builder import edge_table
from prism_atlas.core.graph import EDGE_KINDS, Edges, Graph, Symbols
from prism_contracts.code import EdgeKind

OVERRIDES = EDGE_KINDS.index(EdgeKind.OVERRIDES)


def file_edges(graph: Graph) -> Edges:
    """Of all edges of a kind between two files the surest and first. What overrides a member says so by inheriting."""
    edges = graph.edges
    node_files = graph.node_files()
    source, target = node_files[edges.source], node_files[edges.target]
    told = np.flatnonzero((source != target) & (edges.kind != OVERRIDES))
    kind, status = edges.kind[told], edges.status[told]
    key = (source[told].astype(np.int64) * len(graph.files) + target[told]) * len(EDGE_KINDS) + kind
    order = np.lexsort((edges.line[told], status, key))
    _, first = np.unique(key[order], return_index=True)
    chosen = told[order[first]]
    columns = (edges.kind, edges.status, edges.strategy, edges.line)
    rows = np.column_stack([source[chosen], target[chosen], *(column[chosen] for column in columns)])
    return edge_table(rows.astype(np.int32), len(graph.files))


def graph_of_files(graph: Graph, edges: Edges) -> Graph:
    """A graph whose nodes are the files, with the edges between them."""
    none = Symbols(*(getattr(graph.symbols, column.name)[:0] for column in fields(Symbols)))
    return replace(graph, symbols=none, edges=edges)
