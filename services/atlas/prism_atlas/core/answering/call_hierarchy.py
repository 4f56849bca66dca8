"""Who calls a symbol, and what it calls."""

import numpy as np

from prism_atlas.core import hierarchy
from prism_atlas.core.answering.start import first_of_page, next_page, one_symbol, tell_tree, union
from prism_atlas.core.graph import EDGE_KINDS, Graph, Numbers
from prism_atlas.core.hierarchy import with_makers
from prism_atlas.core.telling import tell_nodes
from prism_atlas.core.traversal import follow, step, within
from prism_contracts.code import EdgeKind
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import CallDirection, CallHierarchyReply, CallHierarchyRequest

NO_CALLS = tuple(kind for kind in EDGE_KINDS if kind not in (EdgeKind.CALLS, EdgeKind.OVERRIDES))


def call_hierarchy(graph: Graph, request: CallHierarchyRequest, receipt: GraphReceipt) -> CallHierarchyReply:
    """A page of the tree. Raises SYMBOL_NOT_FOUND, SYMBOL_AMBIGUOUS, INVALID_CURSOR."""
    sought = one_symbol(graph, receipt.repo, request.symbol, request.path)
    upwards = request.direction is CallDirection.CALLERS
    way = (hierarchy.callers if upwards else hierarchy.callees)(candidates=request.include_candidates)
    stand_for = with_makers if upwards else within
    roots = union([stand_for(graph, int(node)) for node in sought.nodes])
    start = first_of_page(request, request.cursor)
    tree = hierarchy.grow(graph, roots, way, request.depth, width=request.limit, start=start)
    return CallHierarchyReply(
        roots=tell_nodes(graph, sought.nodes),
        others=tell_nodes(graph, sought.others),
        matched=sought.matched,
        direction=request.direction,
        branches=tell_tree(graph, tree),
        total=tree.total,
        other_uses=_other_uses(graph, sought.nodes, candidates=request.include_candidates),
        next_cursor=next_page(request, start + request.limit, tree.total),
        receipt=receipt,
    )


def _other_uses(graph: Graph, nodes: Numbers, *, candidates: bool) -> dict[EdgeKind, int]:
    """How many places use a symbol without calling it, by kind."""
    edges, _ = follow(graph, nodes, [step(NO_CALLS, forward=False, candidate_cost=int(candidates))])
    counts = np.bincount(graph.edges.kind[edges], minlength=len(EDGE_KINDS))
    return {kind: int(count) for kind, count in zip(EDGE_KINDS, counts, strict=True) if count}
