"""Types that implement an interface implicitly, by having its methods, as in Go.

Only the names of methods are compared, not their signatures.
"""

import numpy as np

from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph, Numbers
from prism_atlas.core.traversal import step, traverse
from prism_contracts.code import EdgeKind, SymbolKind

LANGUAGES = frozenset({"go"})
EMBEDDING_DEPTH_MAX = 10

METHOD = SYMBOL_KINDS.index(SymbolKind.METHOD)
INTERFACE = SYMBOL_KINDS.index(SymbolKind.INTERFACE)
CONCRETE = np.isin(SYMBOL_KINDS, [SymbolKind.STRUCT, SymbolKind.TYPE, SymbolKind.CLASS])


def implementing(graph: Graph, interface: int) -> Numbers:
    """Returns the types with all methods of an interface; none if it is empty: every type implements that."""
    wanted = np.unique(graph.symbols.name[_methods(graph, interface)])
    having: set[int] | None = None
    for string in wanted:
        owners = _with_embedding(graph, _owners(graph, graph.named(graph.strings[string])))
        having = owners if having is None else having & owners
    return np.array(sorted(having or ()), np.int32)


def implemented(graph: Graph, type_: int) -> Numbers:
    """Returns the interfaces whose methods a type has."""
    symbols = graph.symbols
    own = symbols.name[_methods(graph, type_)]
    methods = np.flatnonzero((symbols.kind == METHOD) & (symbols.parent != NONE))
    methods = methods[symbols.kind[symbols.parent[methods]] == INTERFACE]
    owners = symbols.parent[methods]
    lacking = owners[~np.isin(symbols.name[methods], own)]
    return np.setdiff1d(owners, lacking).astype(np.int32)


def _methods(graph: Graph, owner: int) -> Numbers:
    """Returns the methods of a type in all files of its folder."""
    symbols = graph.symbols
    name, folder = graph.strings[symbols.qualified_name[owner]], _folder(graph, owner)
    inside = graph.qualified_within(name)
    own = [node for node in inside[symbols.kind[inside] == METHOD].tolist() if _folder(graph, node) == folder]
    return np.array([node for node in own if _owner_name(graph, node) == name], np.int32)


def _owners(graph: Graph, methods: Numbers) -> set[int]:
    """Returns the types of methods, which may be defined in other files of the same folder."""
    found = set()
    for method in methods.tolist():
        owner = int(graph.symbols.parent[method])
        if owner == NONE:
            owner = _owner_elsewhere(graph, method)
        if owner != NONE and CONCRETE[graph.symbols.kind[owner]]:
            found.add(owner)
    return found


def _with_embedding(graph: Graph, owners: set[int]) -> set[int]:
    """Returns types with those that embed them, at any distance: they have their methods too."""
    starts = np.array(sorted(owners), np.int32)
    steps = [step([EdgeKind.EXTENDS], forward=False)]
    reached = np.flatnonzero(traverse(graph, starts, steps, EMBEDDING_DEPTH_MAX).distance != NONE)
    reached = reached[reached < len(graph.symbols)]
    return set(reached[CONCRETE[graph.symbols.kind[reached]]].tolist())


def _owner_elsewhere(graph: Graph, method: int) -> int:
    folder = _folder(graph, method)
    named = graph.qualified(_owner_name(graph, method)).tolist()
    return next((node for node in named if _folder(graph, node) == folder), NONE)


def _owner_name(graph: Graph, node: int) -> str:
    return graph.strings[graph.symbols.qualified_name[node]].rpartition(".")[0]


def _folder(graph: Graph, node: int) -> str:
    return graph.path(graph.file_of(node)).rpartition("/")[0]
