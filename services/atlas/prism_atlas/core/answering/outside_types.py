"""Subtypes of a type that the repository does not define: `IDisposable`, `http.Handler`, `Iterator`."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from prism_atlas.core import hierarchy, structural
from prism_atlas.core.answering.common import render_tree
from prism_atlas.core.graph import EDGE_KINDS, NONE, Graph, Mask, Numbers
from prism_atlas.core.rendering import render_node, render_nodes
from prism_contracts.code import EdgeStatus, Strategy
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import (
    GraphEdge,
    OutsideModule,
    OutsideType,
    TreeBranch,
    TypeHierarchyReply,
    TypeHierarchyRequest,
)
from prism_resolver.symbol_names import SymbolName
from prism_store.globs import compile_glob

DEPTH_MAX = 20
STRUCTURAL_SHOWN_MAX = 50
MODULES_SHOWN_MAX = 5
STANDARD_NOTE = "In this language, types implement interfaces implicitly. These have all methods of {}:"
_SEPARATOR = re.compile(r"[./:\\\\]+")


def outside_type(
    graph: Graph, request: TypeHierarchyRequest, receipt: GraphReceipt
) -> TypeHierarchyReply | None:
    """Returns the types that declare a supertype which the repository lacks, and their subtypes; None without any."""
    name = SymbolName.read(request.symbol)
    rows = _declaring(graph, name)
    standard = ".".join(name.parts[-2:])
    known = structural.implementing_standard(graph, standard)
    if not rows.size and known is None:
        return None
    fitting = np.array([], np.int32) if known is None else known
    if request.source_only:
        fitting = fitting[~graph.in_tests()[fitting]]
    fitting = fitting[_passing(graph, fitting, request)]
    bases = graph.outside_bases
    is_test = graph.in_tests()[bases.node[rows]]
    left_out = len(np.unique(bases.node[rows[is_test]])) if request.source_only else 0
    sought = rows[~is_test] if request.source_only else rows
    kept = sought[_passing(graph, bases.node[sought], request)]
    direct, first = np.unique(bases.node[kept], return_index=True)
    modules = Counter(graph.strings[module] for module in bases.module[kept[first]].tolist())
    shown = np.lexsort((direct, graph.in_tests()[direct]))[: request.limit]
    subtypes, below_left_out = _subtypes(graph, direct[shown], kept[first][shown], request)
    return TypeHierarchyReply(
        roots=(),
        supertypes=(),
        subtypes=subtypes,
        total_supertypes=0,
        total_subtypes=len(direct),
        tests_left_out=left_out,
        filtered_out=len(np.unique(bases.node[sought])) - len(direct),
        below_left_out=below_left_out,
        note="" if known is None else STANDARD_NOTE.format(standard),
        structural=render_nodes(graph, fitting[:STRUCTURAL_SHOWN_MAX].tolist()),
        total_structural=len(fitting),
        outside=OutsideType(
            name=name.dotted,
            modules=tuple(
                OutsideModule(module=module, types=types)
                for module, types in modules.most_common(MODULES_SHOWN_MAX)
            ),
        ),
        receipt=receipt,
    )


def _declaring(graph: Graph, name: SymbolName) -> Numbers:
    """Returns the rows of supertypes with this name, from the module that stands before it."""
    found = graph.outside_bases_named(name.last)
    rows = np.arange(found.start, found.stop, dtype=np.int32)
    before = [part.lower() for part in name.parts[:-1]]
    if not before:
        return rows
    modules = graph.outside_bases.module[rows].tolist()
    fits = [_ends_with(graph.strings[module], before) for module in modules]
    return rows[np.array(fits, np.bool_)]


def _ends_with(module: str, names: Sequence[str]) -> bool:
    """Whether a module may be meant by these names: `net/http` by `http`, an unknown one by any."""
    parts = [part.lower() for part in _SEPARATOR.split(module) if part]
    return not parts or parts[-len(names) :] == list(names)[-len(parts) :]


def _passing(graph: Graph, nodes: Numbers, request: TypeHierarchyRequest) -> Mask:
    """Returns by node whether its file passes the filter."""
    if not request.path_filter:
        return np.ones(len(nodes), np.bool_)
    glob = compile_glob(request.path_filter)
    files = graph.files_of(nodes).tolist()
    return np.array([glob.fullmatch(graph.path(file)) is not None for file in files], np.bool_)


def _subtypes(
    graph: Graph, direct: Numbers, rows: Numbers, request: TypeHierarchyRequest
) -> tuple[tuple[TreeBranch, ...], int]:
    """Returns the types that declare it, then the subtypes of these, level by level; and how many of the first level
    are beyond the bound.
    """
    bases = graph.outside_bases
    branches = [
        TreeBranch(
            node=render_node(graph, node),
            via=GraphEdge(
                edge=EDGE_KINDS[bases.kind[row]],
                status=EdgeStatus.RESOLVED,
                strategy=Strategy.IMPORT if bases.module[row] else Strategy.NAME,
                lines=(int(bases.line[row]),),
            ),
            depth=1,
        )
        for node, row in zip(direct.tolist(), rows.tolist(), strict=True)
    ]
    types = direct[direct < len(graph.symbols)]
    if not types.size:
        return tuple(branches), 0
    expansion = hierarchy.subtypes(candidates=request.include_candidates, tests=not request.source_only)
    # All direct types are one root: `limit` bounds the children of each, not of all together.
    tree = hierarchy.grow(graph, types, expansion, DEPTH_MAX, width=hierarchy.BRANCHES_MAX)
    position = {node: at for at, node in enumerate(direct.tolist())}
    offset = len(branches)
    for shown, branch in zip(render_tree(graph, tree), tree.branches, strict=True):
        above = int(graph.edges.target[branch.link.edge])
        parent = position[above] if branch.parent == NONE else branch.parent + offset
        same = shown.same_as + offset if shown.same_as >= 0 else shown.same_as
        branches.append(
            shown.model_copy(update={"parent": parent, "depth": branch.depth + 1, "same_as": same})
        )
    return _filtered(branches, request), tree.total - sum(one.parent == NONE for one in tree.branches)


def _filtered(branches: Sequence[TreeBranch], request: TypeHierarchyRequest) -> tuple[TreeBranch, ...]:
    """Returns the branches whose files pass the filter, and those that lead to them."""
    if not request.path_filter:
        return tuple(branches)
    glob = compile_glob(request.path_filter)
    kept = set[int]()
    for position, branch in reversed(list(enumerate(branches))):
        if position in kept or glob.fullmatch(branch.node.file_path):
            kept |= {position, branch.parent} - {NONE}
    place = {position: at for at, position in enumerate(sorted(kept))}
    return tuple(
        branches[position].model_copy(
            update={
                "parent": place.get(branches[position].parent, NONE),
                "same_as": place.get(branches[position].same_as, NONE),
            }
        )
        for position in place
    )
