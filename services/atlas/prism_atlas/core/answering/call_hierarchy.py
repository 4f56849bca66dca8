"""Callers and callees of a symbol."""

from collections.abc import Iterator

import numpy as np

from prism_atlas.core import hierarchy
from prism_atlas.core.answering.common import (
    next_page,
    nodes_at,
    notes_of,
    one_symbol,
    page_start,
    render_tree,
    tree_stops,
    union,
)
from prism_atlas.core.graph import EDGE_KINDS, REFERENCE_KINDS, Graph, Numbers
from prism_atlas.core.hierarchy import called_nodes
from prism_atlas.core.rendering import UsingLine, render_nodes
from prism_atlas.core.traversal import follow, step, within
from prism_contracts.code import EdgeKind, EdgeStatus, ReferenceKind
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import CallDirection, CallHierarchyReply, CallHierarchyRequest, StoredPlace

STORED_SHOWN_MAX = 20
VALUE = REFERENCE_KINDS.index(ReferenceKind.VALUE)
NO_CALLS = tuple(kind for kind in EDGE_KINDS if kind not in (EdgeKind.CALLS, EdgeKind.OVERRIDES))


def call_hierarchy(graph: Graph, request: CallHierarchyRequest, receipt: GraphReceipt) -> CallHierarchyReply:
    """Returns a page of the tree. Raises SYMBOL_NOT_FOUND, SYMBOL_AMBIGUOUS, INVALID_CURSOR."""
    resolved_name = one_symbol(graph, receipt.repo, request.symbol, request.path)
    upwards = request.direction is CallDirection.CALLERS
    grown = hierarchy.callers if upwards else hierarchy.callees
    expansion = grown(candidates=request.include_candidates, tests=not request.source_only)
    origins = called_nodes if upwards else within
    roots = union([origins(graph, int(node)) for node in resolved_name.nodes])
    start = page_start(request, request.cursor)
    tree = hierarchy.grow(
        graph,
        roots,
        expansion,
        request.depth,
        width=request.limit,
        start=start,
        definitions=resolved_name.nodes,
    )
    return CallHierarchyReply(
        roots=render_nodes(graph, resolved_name.nodes),
        others=render_nodes(graph, resolved_name.others),
        matched=resolved_name.matched,
        notes=notes_of(resolved_name),
        direction=request.direction,
        branches=render_tree(graph, tree),
        total=tree.total,
        candidates=tree.candidates,
        tests_left_out=tree.tests_left_out,
        stops=tree_stops(graph, tree, request.depth),
        stored=_stored(graph, resolved_name.nodes) if upwards else (),
        other_uses=_other_uses(graph, resolved_name.nodes, candidates=request.include_candidates),
        next_cursor=next_page(request, start + request.limit, tree.total),
        receipt=receipt,
    )


def followed(graph: Graph, request: CallHierarchyRequest, reply: CallHierarchyReply) -> list[int]:
    """Returns the functions whose calls a tree of callees follows."""
    resolved = [
        branch.node
        for branch in reply.branches
        if branch.depth < request.depth and branch.via.status is EdgeStatus.RESOLVED and not branch.node.test
    ]
    roots = [within(graph, node) for node in nodes_at(graph, reply.roots)]
    members = union(roots).tolist() if roots else []
    return list(dict.fromkeys([*members, *nodes_at(graph, resolved)]))


def lines_of(reply: CallHierarchyReply) -> Iterator[UsingLine]:
    """Returns the lines of all calls in a tree."""
    for branch in reply.branches:
        if branch.via.edge is EdgeKind.CALLS:
            path = branch.via.file_path or branch.node.file_path
            yield from (UsingLine(path, line) for line in branch.via.lines)


def _stored(graph: Graph, nodes: Numbers) -> tuple[StoredPlace, ...]:
    """Returns the lines that store the symbol in a field of a struct."""
    references = graph.references
    symbols = nodes[nodes < len(graph.symbols)].tolist()
    meant = np.unique(np.concatenate([*(graph.meaning(node) for node in symbols), np.array([], np.int32)]))
    rows = np.flatnonzero(np.isin(graph.aliases.reference, meant[references.kind[meant] == VALUE]))
    rows = rows[np.argsort(graph.aliases.reference[rows], kind="stable")][:STORED_SHOWN_MAX]
    return tuple(
        StoredPlace(
            node=render_nodes(graph, [int(references.source[reference])])[0],
            line=int(references.line[reference]),
            field=graph.strings[graph.aliases.alias[row]],
        )
        for row, reference in zip(rows.tolist(), graph.aliases.reference[rows].tolist(), strict=True)
    )


def _other_uses(graph: Graph, nodes: Numbers, *, candidates: bool) -> dict[EdgeKind, int]:
    """Counts the places that use a symbol without calling it, by kind of edge."""
    edges, _ = follow(graph, nodes, [step(NO_CALLS, forward=False, candidate_cost=int(candidates))])
    counts = np.bincount(graph.edges.kind[edges], minlength=len(EDGE_KINDS))
    return {kind: int(count) for kind, count in zip(EDGE_KINDS, counts, strict=True) if count}
