"""Supertypes and subtypes of a type."""

from collections.abc import Iterator

import numpy as np

from prism_atlas.core import hierarchy, structural
from prism_atlas.core.answering.common import one_symbol, render_tree
from prism_atlas.core.answering.outside_types import outside_type
from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph, Numbers
from prism_atlas.core.hierarchy import IS_TYPE, Tree
from prism_atlas.core.protocols import LANGUAGE, Protocols
from prism_atlas.core.rendering import UsingLine, render_node, render_nodes
from prism_atlas.core.traversal import follow, step
from prism_contracts.code import EdgeKind, SymbolKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import TreeBranch, TypeHierarchyReply, TypeHierarchyRequest

DEPTH_MAX = 20
MEMBERS_SHOWN_MAX = 20
STRUCTURAL_SHOWN_MAX = 50

INTERFACE = SYMBOL_KINDS.index(SymbolKind.INTERFACE)
STRUCTURAL_NOTE = (
    "In this language, types implement interfaces implicitly. These have all methods, own or embedded, with equal"
    " parameters and results:"
)
PROTOCOL_NOTE = (
    "A class satisfies a protocol by its members. These have its methods, own or inherited, by name (?); parameters,"
    " decorated members and attributes were not compared:"
)
PROTOCOLS_NOTE = (
    "It has the methods of these protocols, own or inherited, by name (?); parameters, decorated members and"
    " attributes were not compared:"
)


def type_hierarchy(graph: Graph, request: TypeHierarchyRequest, receipt: GraphReceipt) -> TypeHierarchyReply:
    """Returns both trees; of a type outside of the repository, the types that declare it and their subtypes.

    Raises SYMBOL_NOT_FOUND, SYMBOL_AMBIGUOUS; INVALID_ARGUMENT if it is not a type.
    """
    outside = outside_type(graph, request, receipt)
    try:
        resolved_name = one_symbol(graph, receipt.repo, request.symbol, request.path, preferred=IS_TYPE)
    except PrismError as error:
        if outside and error.code is ErrorCode.SYMBOL_NOT_FOUND:
            return outside
        raise
    if outside and (resolved_name.matched or not _types_among(graph, resolved_name.nodes)):
        return outside
    named = _type_among(graph, resolved_name.nodes)
    above, below = (
        hierarchy.grow(
            graph,
            resolved_name.nodes,
            grown(candidates=request.include_candidates, tests=not request.source_only),
            DEPTH_MAX,
            width=request.limit,
        )
        for grown in (hierarchy.supertypes, hierarchy.subtypes)
    )
    is_structural = _language(graph, named) in structural.LANGUAGES
    note, fitting = _by_members(graph, named)
    if request.source_only:
        fitting = fitting[~graph.in_tests()[fitting]]
    return TypeHierarchyReply(
        roots=render_nodes(graph, resolved_name.nodes),
        others=render_nodes(graph, resolved_name.others),
        matched=resolved_name.matched,
        supertypes=_branches(graph, above, resolved_name.nodes, request, forward=True),
        subtypes=_branches(graph, below, resolved_name.nodes, request, forward=False),
        total_supertypes=above.total,
        total_subtypes=below.total,
        tests_left_out=below.tests_left_out,
        note=note,
        structural=render_nodes(graph, fitting[:STRUCTURAL_SHOWN_MAX].tolist()),
        total_structural=len(fitting),
        embedded_outside=structural.embedded_outside(graph, named) if is_structural else (),
        receipt=receipt,
    )


def lines_of(reply: TypeHierarchyReply) -> Iterator[UsingLine]:
    """Returns the lines that declare the subtypes."""
    for branch in reply.subtypes:
        yield from (UsingLine(branch.node.file_path, line) for line in branch.via.lines)


def _types_among(graph: Graph, nodes: Numbers) -> list[int]:
    return [node for node in nodes.tolist() if not graph.is_file(node) and IS_TYPE[graph.symbols.kind[node]]]


def _type_among(graph: Graph, nodes: Numbers) -> int:
    """Returns the first node that is a type. Raises INVALID_ARGUMENT if there is none."""
    for node in _types_among(graph, nodes):
        return int(node)
    node = int(nodes[0])
    rendered = render_node(graph, node)
    parent = NONE if graph.is_file(node) else int(graph.symbols.parent[node])
    owner = "" if parent == NONE else render_node(graph, parent).symbol
    raise PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"{rendered.symbol or rendered.file_path} is a {rendered.kind or 'file'}, not a type.",
        f"Ask about {owner}, its type." if owner else "Give a class, an interface or another type.",
    )


def _branches(
    graph: Graph, tree: Tree, roots: Numbers, request: TypeHierarchyRequest, *, forward: bool
) -> tuple[TreeBranch, ...]:
    branches = render_tree(graph, tree)
    if not request.include_members:
        return branches
    members = _overriding(graph, roots, forward=forward)
    return tuple(
        branch.model_copy(update={"overrides": render_nodes(graph, members.get(shown.link.node, ()))})
        for branch, shown in zip(branches, tree.branches, strict=True)
    )


def _overriding(graph: Graph, roots: Numbers, *, forward: bool) -> dict[int, list[int]]:
    """Returns members by their type on the other side: those that override the roots' members, or (forward)
    are overridden by them.
    """
    symbols = graph.symbols
    inside = np.concatenate(
        [np.asarray(graph.symbols_of(graph.file_of(int(root))), np.int32) for root in roots]
    )
    own = np.unique(inside[np.isin(symbols.parent[inside], roots)])
    _, others = follow(graph, own, [step([EdgeKind.OVERRIDES], forward=forward, candidate_cost=1)])
    found: dict[int, list[int]] = {}
    for member in np.unique(others).tolist():
        found.setdefault(int(symbols.parent[member]), []).append(member)
    return {owner: members[:MEMBERS_SHOWN_MAX] for owner, members in found.items()}


def _by_members(graph: Graph, named: int) -> tuple[str, Numbers]:
    """Returns the types that implement a type by their members alone, or that it implements so, with a note on them."""
    language = _language(graph, named)
    if language in structural.LANGUAGES:
        is_interface = graph.symbols.kind[named] == INTERFACE
        return STRUCTURAL_NOTE, (structural.implementing if is_interface else structural.implemented)(
            graph, named
        )
    if language == LANGUAGE:
        protocols = Protocols(graph)
        is_protocol = named in protocols.nodes
        found = (protocols.satisfying if is_protocol else protocols.satisfied)(named)
        if is_protocol:
            return PROTOCOL_NOTE, found
        return PROTOCOLS_NOTE if len(found) else "", found
    return "", np.array([], np.int32)


def _language(graph: Graph, node: int) -> str:
    return graph.strings[graph.files.language[graph.file_of(node)]]
