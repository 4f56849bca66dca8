"""Types that implement an interface implicitly, by having its methods, as in Go.

A method set has the own methods of a type and those of the types that it embeds. Two methods are equal if their
names, parameters and results are.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from prism_atlas.core.go_methods import STANDARD, fits
from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph, Numbers
from prism_atlas.core.traversal import follow, step, traverse
from prism_contracts.code import EdgeKind, SymbolKind

LANGUAGES = frozenset({"go"})
EMBEDDING_DEPTH_MAX = 10

METHOD = SYMBOL_KINDS.index(SymbolKind.METHOD)
INTERFACE = SYMBOL_KINDS.index(SymbolKind.INTERFACE)
CONCRETE = np.isin(SYMBOL_KINDS, [SymbolKind.STRUCT, SymbolKind.TYPE, SymbolKind.CLASS])


class Method(NamedTuple):
    """A method of a type: its contract, and the folder in which names without a package are defined.

    `node` is NONE for a method of the standard library.
    """

    contract: str
    folder: str
    node: int = NONE


class MethodSet(NamedTuple):
    """The methods of a type by name, and the types that it embeds whose methods are not known."""

    methods: Mapping[str, Method]
    unknown: frozenset[str]


def implementing(graph: Graph, interface: int) -> Numbers:
    """Returns the types with all methods of an interface; none if it is empty: every type implements that."""
    return _having(graph, method_sets(graph)(interface).methods, interface)


def implementing_standard(graph: Graph, name: str) -> Numbers | None:
    """Returns the types with all methods of an interface of Go's standard library: `io.Reader`.

    Returns None for any other name, and without a file in Go.
    """
    methods = STANDARD.get(name, {})
    languages = {graph.strings[one] for one in np.unique(graph.files.language).tolist()}
    if not methods or LANGUAGES.isdisjoint(languages):
        return None
    return _having(graph, {method: Method(text, "") for method, text in methods.items()}, NONE)


def _having(graph: Graph, wanted: Mapping[str, Method], interface: int) -> Numbers:
    method_set = method_sets(graph)
    having: set[int] | None = None
    for name in wanted:
        owners = _with_embedding(graph, _owners(graph, graph.named(name)))
        # A method may also come from an embedded type of the standard library.
        owners |= _embedding_standard(graph, name)
        having = owners if having is None else having & owners
    found = [one for one in having or () if one != interface and _has_all(method_set(one).methods, wanted)]
    return np.array(sorted(found), np.int32)


def implemented(graph: Graph, type_: int) -> Numbers:
    """Returns the interfaces whose methods a type has."""
    method_set = method_sets(graph)
    own = method_set(type_).methods
    symbols = graph.symbols
    names = [graph.strings.find(name) for name in own]
    methods = np.flatnonzero(
        (symbols.kind == METHOD) & np.isin(symbols.name, names) & (symbols.parent != NONE)
    )
    owners = np.unique(symbols.parent[methods])
    owners = owners[symbols.kind[owners] == INTERFACE]
    reached = traverse(graph, owners, [step([EdgeKind.EXTENDS], forward=False)], EMBEDDING_DEPTH_MAX)
    candidates = np.flatnonzero(reached.distance[: len(symbols)] != NONE)
    candidates = candidates[symbols.kind[candidates] == INTERFACE].tolist()
    found = [one for one in candidates if one != type_ and _has_all(own, method_set(one).methods)]
    return np.array(found, np.int32)


def implied_overrides(graph: Graph) -> Numbers:
    """Returns the methods that implement one of an interface, as rows of the method and the interface's method.

    A method that several types embed implements it once.
    """
    symbols = graph.symbols
    languages = [graph.strings.find(name) for name in LANGUAGES]
    is_here = np.isin(graph.files.language[symbols.file], languages)
    method_set = method_sets(graph)
    standard = cache(partial(_embedding_standard, graph))
    found: set[tuple[int, int]] = set()
    for interface in np.flatnonzero((symbols.kind == INTERFACE) & is_here).tolist():
        wanted = method_set(interface).methods
        declared = {name: one.node for name, one in wanted.items() if _is_declared_in(graph, one, interface)}
        if not declared:
            continue
        rarest = min(wanted, key=lambda name: len(graph.named(name)))
        owners = _with_embedding(graph, _owners(graph, graph.named(rarest))) | standard(rarest)
        for owner in owners:
            own = method_set(owner).methods
            if _has_all(own, wanted):
                found |= {(own[name].node, node) for name, node in declared.items()}
    # What a type embeds may be an interface, whose method has no code that could run.
    rows = sorted(pair for pair in found if pair[0] != NONE and not _is_declaration(graph, pair[0]))
    return np.array(rows, np.int32).reshape(-1, 2)


def embedded_outside(graph: Graph, type_: int) -> tuple[str, ...]:
    """Returns the types that a type embeds whose methods are not known, such as those of other modules."""
    return tuple(sorted(method_sets(graph)(type_).unknown))


def method_sets(graph: Graph) -> Callable[[int], MethodSet]:
    """Returns a function from a type to its method set. It computes each one once."""

    @cache
    def own(node: int) -> Mapping[str, Method]:
        return _own_methods(graph, node)

    def method_set(node: int) -> MethodSet:
        found: dict[str, Method] = {}
        unknown: set[str] = set()
        seen: set[int] = set()
        level = {node}
        # The nearest method of a name wins.
        for _ in range(EMBEDDING_DEPTH_MAX):
            seen |= level
            for one in sorted(level):
                found = {**own(one), **found}
            for outside in _embedded_outside(graph, level):
                if outside in STANDARD:
                    found = {name: Method(text, "") for name, text in STANDARD[outside].items()} | found
                else:
                    unknown.add(outside)
            level = _embedded(graph, level) - seen
            if not level:
                break
        return MethodSet(found, frozenset(unknown))

    return cache(method_set)


def _is_declaration(graph: Graph, method: int) -> bool:
    owner = int(graph.symbols.parent[method])
    return owner != NONE and graph.symbols.kind[owner] == INTERFACE


def _is_declared_in(graph: Graph, method: Method, interface: int) -> bool:
    return method.node != NONE and graph.symbols.parent[method.node] == interface


def _has_all(methods: Mapping[str, Method], wanted: Mapping[str, Method]) -> bool:
    return bool(wanted) and all(
        name in methods and _equal(methods[name], method) for name, method in wanted.items()
    )


def _equal(one: Method, other: Method) -> bool:
    return fits(one.contract, other.contract, same_package=one.folder == other.folder)


def _own_methods(graph: Graph, owner: int) -> dict[str, Method]:
    """Returns the methods of a type in all files of its folder."""
    symbols = graph.symbols
    name, folder = graph.strings[symbols.qualified_name[owner]], _folder(graph, owner)
    inside = graph.qualified_within(name)
    nodes = [
        node for node in inside[symbols.kind[inside] == METHOD].tolist() if _folder(graph, node) == folder
    ]
    return {
        graph.strings[symbols.name[node]]: Method(graph.strings[symbols.contract[node]], folder, node)
        for node in nodes
        if _owner_name(graph, node) == name
    }


def _embedded(graph: Graph, nodes: Iterable[int]) -> set[int]:
    """Returns the types that some types embed."""
    found = follow(graph, np.array(sorted(nodes), np.int32), [step([EdgeKind.EXTENDS], forward=True)]).nodes
    return set(found[found < len(graph.symbols)].tolist())


def _embedded_outside(graph: Graph, nodes: Iterable[int]) -> set[str]:
    """Returns the names of embedded types that are defined outside of the repository."""
    contracts = (graph.strings[graph.symbols.contract[node]] for node in nodes)
    named = {name for contract in contracts for name in contract.split(";") if name}
    inside = {graph.strings[graph.symbols.name[node]] for node in _embedded(graph, nodes)}
    return {name for name in named if name.rpartition(".")[2] not in inside}


def _embedding_standard(graph: Graph, method: str) -> set[int]:
    """Returns the types that embed a type of the standard library with a method, at any distance."""
    outside = [name for name, methods in STANDARD.items() if method in methods]
    if not outside:
        return set()
    symbols = graph.symbols
    contracts = np.unique(symbols.contract)
    holding = [
        one for one in contracts.tolist() if not set(graph.strings[one].split(";")).isdisjoint(outside)
    ]
    owners = np.flatnonzero(np.isin(symbols.contract, holding) & (symbols.kind != METHOD))
    return _with_embedding(graph, set(owners.tolist()))


def _owners(graph: Graph, methods: Numbers) -> set[int]:
    """Returns the types of methods, which may be defined in other files of the same folder."""
    found = set()
    for method in methods[graph.symbols.kind[methods] == METHOD].tolist():
        owner = int(graph.symbols.parent[method])
        if owner == NONE:
            owner = _owner_elsewhere(graph, method)
        if owner != NONE:
            found.add(owner)
    return found


def _with_embedding(graph: Graph, owners: set[int]) -> set[int]:
    """Returns the concrete types among some types and those that embed them, at any distance."""
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
