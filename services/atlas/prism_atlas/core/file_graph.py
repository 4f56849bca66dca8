"""The graph of files, derived from the graph of symbols: an edge means that one file uses the other."""

from dataclasses import fields, replace

import numpy as np

from prism_atlas.core.builder import edge_table
from prism_atlas.core.graph import EDGE_KINDS, EdgeTable, Graph, SymbolTable
from prism_atlas.core.rows import order_by
from prism_contracts.code import EdgeKind

OVERRIDES = EDGE_KINDS.index(EdgeKind.OVERRIDES)


def file_edges(graph: Graph) -> EdgeTable:
    """Returns the best edge of each kind between two files: resolved first, then the first line.

    Override edges are omitted, because they follow from inheritance.
    """
    edges = graph.edges
    node_files = graph.node_files()
    source, target = node_files[edges.source], node_files[edges.target]
    between = np.flatnonzero((source != target) & (edges.kind != OVERRIDES))
    source, target, kind = source[between], target[between], edges.kind[between].astype(np.int32)
    order = order_by(source, target, kind << 8 | edges.status[between], edges.line[between])
    is_first = np.zeros(len(between), np.bool_)
    for column in (source, target, kind):
        is_first |= np.diff(column[order], prepend=-1) != 0
    chosen = order[is_first]
    columns = (edges.kind, edges.status, edges.strategy, edges.line)
    rows = np.column_stack([source[chosen], target[chosen], *(column[between[chosen]] for column in columns)])
    return edge_table(rows.astype(np.int32), len(graph.files))


def graph_of_files(graph: Graph, edges: EdgeTable) -> Graph:
    """Returns a graph whose nodes are the files, with these edges."""
    none = SymbolTable(*(getattr(graph.symbols, column.name)[:0] for column in fields(SymbolTable)))
    return replace(graph, symbols=none, edges=edges)
