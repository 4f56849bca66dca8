"""Shared by all answers: resolving the requested symbol or files, paging, and rendering of trees."""

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from prism_atlas.core.graph import NONE, Graph, Mask, Numbers
from prism_atlas.core.hierarchy import INHERITANCE, IS_TYPE, Branch, Tree
from prism_atlas.core.lookup import ResolvedName, find_files, find_symbol
from prism_atlas.core.rendering import render_edge, render_node, render_nodes
from prism_atlas.core.traversal import step, traverse
from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.graph import GraphNode, StopReason, TreeBranch, WalkStop
from prism_resolver.symbol_names import SymbolName
from prism_runtime.cursors import read_cursor, write_cursor

OTHERS_SHOWN_MAX = 20
STOPS_SHOWN_MAX = 10
SUPERTYPES_DEPTH_MAX = 20


def one_symbol(graph: Graph, repo: str, name: str, path: str, preferred: Mask | None = None) -> ResolvedName:
    """Returns the one symbol that the name means; preferred kinds win over others.

    Raises SYMBOL_NOT_FOUND; SYMBOL_AMBIGUOUS with the places of all that match.
    """
    resolved_name = find_symbol(graph, repo, name, path, preferred)
    if not resolved_name.nodes.size or resolved_name.matched:
        resolved_name = find_inherited(graph, repo, name, path) or resolved_name
    if not resolved_name.nodes.size and not resolved_name.others:
        resolved_name = find_imported(graph, name, path) or resolved_name
    if resolved_name.nodes.size:
        return resolved_name._replace(others=resolved_name.others[:OTHERS_SHOWN_MAX])
    if not resolved_name.others:
        raise PrismError(
            ErrorCode.SYMBOL_NOT_FOUND,
            f"The graph has no definition of {name!r}.",
            "Try search_code.",
            symbol=name,
        )
    matches = render_nodes(graph, resolved_name.others[:OTHERS_SHOWN_MAX])
    raise PrismError(
        ErrorCode.SYMBOL_AMBIGUOUS,
        f"{name!r} matches {len(resolved_name.others)} symbols.",
        "Give file_path, a qualified name, or file:line from details.definitions.",
        definitions=[f"{node.file_path}:{node.line} {node.symbol}" for node in matches],
        total=len(resolved_name.others),
    )


def find_inherited(graph: Graph, repo: str, name: str, path: str) -> ResolvedName | None:
    """Returns the member that a type inherits under this name, from the nearest of its supertypes."""
    owner, _, member = SymbolName.read(name).dotted.rpartition(".")
    types = find_symbol(graph, repo, owner, path, IS_TYPE).nodes if owner else None
    if types is None or not types.size or graph.is_file(int(types[0])):
        return None
    steps = [step(INHERITANCE, forward=True)]
    above = traverse(graph, types, steps, SUPERTYPES_DEPTH_MAX).distance
    named = graph.named(member)
    parents = graph.symbols.parent[named]
    found = named[parents != NONE]
    distance = above[graph.symbols.parent[found]]
    found, distance = found[distance > 0], distance[distance > 0]
    if not found.size:
        return None
    nearest = found[distance == distance.min()]
    inherited = render_nodes(graph, nearest[:1])[0]
    return ResolvedName(nearest, inherited=f"{name} is inherited: {inherited.symbol}")


def find_imported(graph: Graph, name: str, path: str) -> ResolvedName | None:
    """Returns the symbol that files import under this name, if they all mean one: `const check = require("./weigh")`.

    `path` is the file of the symbol, or of an import.
    """
    if "." in SymbolName.read(name).dotted:
        return None
    references = graph.aliased(name.strip())
    rows = np.flatnonzero(np.isin(graph.meanings.reference, references))
    targets, sources = graph.meanings.target[rows], graph.references.source[graph.meanings.reference[rows]]
    known = targets < len(graph.symbols)
    targets, sources = targets[known], sources[known]
    if path and targets.size:
        paths = [graph.path(int(one)) for one in graph.files_of(targets)]
        importing = [graph.path(int(one)) for one in graph.files_of(sources)]
        is_wanted = [path in pair for pair in zip(paths, importing, strict=True)]
        targets = targets[np.array(is_wanted, np.bool_)]
    found = np.unique(targets).astype(np.int32)
    if not found.size:
        return None
    if found.size > 1:
        return ResolvedName(np.array([], np.int32), others=found.tolist())
    symbol = render_nodes(graph, found)[0]
    return ResolvedName(found, inherited=f"{name} is imported: {symbol.symbol} of {symbol.file_path}")


def nodes_at(graph: Graph, rendered: Iterable[GraphNode]) -> list[int]:
    """Returns the symbols of a reply as nodes, each once."""
    found: dict[int, None] = {}
    for one in rendered:
        file = graph.find_file(one.file_path)
        for node in graph.symbols_of(file) if one.symbol else ():
            if graph.symbols.name_line[node] == one.line and graph.symbols.start_line[node] == one.start_line:
                found[node] = None
    return list(found)


def notes_of(resolved_name: ResolvedName) -> tuple[str, ...]:
    """Returns what the caller should know about how a name was found."""
    return (resolved_name.inherited,) if resolved_name.inherited else ()


def requested_files(graph: Graph, path: str) -> Numbers:
    """Returns the files that a path or a package names. Raises FILE_NOT_FOUND."""
    files = find_files(graph, path)
    if not files.size:
        raise PrismError(
            ErrorCode.FILE_NOT_FOUND,
            f"The graph has no file, folder or package {path!r}.",
            "list_files shows all files.",
        )
    return files


MessageT = TypeVar("MessageT", bound=Message)


def page_start(request: MessageT, cursor: str) -> int:
    """Returns the position that a cursor refers to. Raises INVALID_CURSOR."""
    return int(read_cursor(_page_key(request), cursor, (int,))[0]) if cursor else 0


def next_page(request: MessageT, end: int, total: int) -> str:
    """Returns the cursor of the next page; empty after the last."""
    return write_cursor(_page_key(request), end) if end < total else ""


def render_tree(graph: Graph, tree: Tree) -> tuple[TreeBranch, ...]:
    """Returns all branches in their order."""
    return tuple(_render_branch(graph, branch) for branch in tree.branches)


def tree_stops(graph: Graph, tree: Tree, depth: int) -> tuple[WalkStop, ...]:
    """Returns where a tree ends although the graph goes on. One level is all that depth 1 is for."""
    if depth == 1:
        return ()
    left_out = sum(branch.left_out for branch in tree.branches)
    stops = [
        _stop(graph, tree, StopReason.NAME, tree.by_name),
        _stop(graph, tree, StopReason.DEPTH, tree.too_deep),
        WalkStop(reason=StopReason.WIDTH, count=left_out),
    ]
    return tuple(stop for stop in stops if stop.count)


def union(parts: list[Numbers]) -> Numbers:
    """Returns the distinct nodes of several sets."""
    return np.unique(np.concatenate(parts))


def _stop(graph: Graph, tree: Tree, reason: StopReason, positions: list[int]) -> WalkStop:
    nodes = dict.fromkeys(tree.branches[position].link.node for position in positions)
    return WalkStop(reason=reason, count=len(nodes), nodes=render_nodes(graph, list(nodes)[:STOPS_SHOWN_MAX]))


def _page_key(request: Message) -> str:
    return request.model_copy(update={"cursor": "", "limit": 1}).model_dump_json()


def _render_branch(graph: Graph, branch: Branch) -> TreeBranch:
    node, edge, lines = branch.link
    source = graph.file_of(int(graph.edges.source[edge]))
    elsewhere = "" if source == graph.file_of(node) else graph.path(source)
    return TreeBranch(
        node=render_node(graph, node),
        via=render_edge(graph, edge, lines).model_copy(update={"file_path": elsewhere}),
        parent=branch.parent,
        depth=branch.depth,
        same_as=branch.same,
        recursive=branch.recursive,
        left_out=branch.left_out,
    )
