"""References to a symbol: those that resolve to its definitions, and candidates that only the name supports.

The graph has resolved in advance what search finds by reading the files that contain a name.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import (
    EDGE_STATUSES,
    LOOKUP_KINDS,
    NONE,
    REFERENCE_KINDS,
    STRATEGIES,
    SYMBOL_KINDS,
    Graph,
    Numbers,
)
from prism_atlas.core.protocols import Protocols
from prism_atlas.core.traversal import follow, step
from prism_contracts.code import CALLABLE_KINDS, VALUE_KINDS, EdgeKind, EdgeStatus, ReferenceKind, Strategy
from prism_contracts.rpc.symbols import REFERENCE_GROUPS, DefinitionPlace, ReferenceGroup
from prism_resolver.languages import C_FAMILY
from prism_resolver.modules import File
from prism_resolver.program import Program
from prism_resolver.resolution import CandidateDefinition, NamedUse, is_member, may_mean
from prism_resolver.unit import DEFAULT, Site, Unit, UnitDefinition, same_symbol

_IMPORT = REFERENCE_KINDS.index(ReferenceKind.IMPORT)
_ALIAS = REFERENCE_KINDS.index(ReferenceKind.ALIAS)
_CALL = REFERENCE_KINDS.index(ReferenceKind.CALL)
_STORED = STRATEGIES.index(Strategy.STORED)
_OVERRIDDEN = STRATEGIES.index(Strategy.OVERRIDDEN)
# How a member names the one that it overrides.
_OF_BASE = [STRATEGIES.index(one) for one in (Strategy.INHERITED, Strategy.CLASS_NAME)]
_RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)
_CANDIDATE = EDGE_STATUSES.index(EdgeStatus.CANDIDATE)
_GROUPS = tuple(ReferenceGroup)
# What calls an object of Python runs, by the name of the object.
CALLED = "__call__"
TESTS = _GROUPS.index(ReferenceGroup.TESTS)
# By code of a kind of reference.
_GROUP_OF = np.array([_GROUPS.index(REFERENCE_GROUPS[kind]) for kind in REFERENCE_KINDS])


class UseTable(NamedTuple):
    """Columns with a row per reference that means or may mean the symbol, in display order."""

    reference: Numbers
    file: Numbers
    status: NDArray[np.uint8]  # of EDGE_STATUSES
    strategy: NDArray[np.uint8]  # of STRATEGIES
    group: NDArray[np.int64]  # of ReferenceGroup

    def at(self, positions: NDArray[Any] | slice) -> "UseTable":
        """Returns a selection of the rows."""
        return UseTable(
            self.reference[positions],
            self.file[positions],
            self.status[positions],
            self.strategy[positions],
            self.group[positions],
        )


def find_uses(graph: Graph, name: str, targets: Sequence[int]) -> UseTable:
    """Returns the references to the symbol that has this name and these definitions."""
    by_name = STRATEGIES.index(Strategy.ONLY_DEFINITION if _is_only_symbol(graph, name) else Strategy.NAME)
    meant = _resolved_references(graph, name, targets)
    named = np.setdiff1d(graph.references_to(name), meant, assume_unique=True)
    exported = np.setdiff1d(_by_exported_names(graph, name, meant, targets), np.concatenate([meant, named]))
    named = np.concatenate([named, exported])
    possible = named[_may_mean(graph, named, targets)]
    references = np.concatenate([meant, possible])
    status = graph.references.status[references]
    status[len(meant) :] = _CANDIDATE
    known = graph.references.strategy[references]
    strategy = np.where((status == _CANDIDATE) & (known != _STORED), by_name, known).astype(np.uint8)
    file = graph.files_of(graph.references.source[references])
    group = np.where(
        graph.in_tests()[graph.references.source[references]],
        TESTS,
        _GROUP_OF[graph.references.kind[references]],
    )
    return _ordered(graph, UseTable(references, file, status, strategy, group))


def overridden_uses(graph: Graph, targets: Sequence[int]) -> UseTable | None:
    """Returns the sure calls of members that some members override, as candidates: they may run the overriding one.

    None if they override none. `super().open()` and `Depot.open(self)` in a member that overrides the same one are left
    out: they run the overridden one.
    """
    nodes = np.asarray(targets, np.int32)
    above = follow(graph, nodes, [step([EdgeKind.OVERRIDES], forward=True)]).nodes
    declared = np.array(Protocols(graph).implemented(nodes.tolist()), np.int32)
    above = np.setdiff1d(np.concatenate([above, declared]), nodes)
    if not len(above):
        return None
    below = np.unique(follow(graph, above, [step([EdgeKind.OVERRIDES], forward=False)]).nodes)
    names = {graph.strings[graph.symbols.name[node]] for node in above.tolist()}
    rows = merged(graph, [find_uses(graph, name, above.tolist()) for name in sorted(names)])
    is_call = graph.references.kind[rows.reference] == _CALL
    sources, lines = graph.references.source[rows.reference], graph.references.line[rows.reference]
    # A reference means all overloads; its edge leads to the one that it calls.
    into = np.concatenate([graph.edges_in(node) for node in above.tolist()])
    calling = graph.files_of(graph.edges.source[into])
    called = set(zip(calling.tolist(), graph.edges.line[into].tolist(), strict=True))
    places = zip(rows.file.tolist(), lines.tolist(), strict=True)
    is_reached = np.array([place in called for place in places], np.bool_)
    is_above = np.isin(sources, below) & np.isin(rows.strategy, _OF_BASE)
    rows = rows.at((rows.status == _RESOLVED) & is_call & is_reached & ~is_above)
    uncertain = np.full(len(rows.reference), _CANDIDATE, np.uint8)
    return rows._replace(status=uncertain, strategy=np.full(len(uncertain), _OVERRIDDEN, np.uint8))


def merged(graph: Graph, tables: Sequence[UseTable]) -> UseTable:
    """Returns the rows of several tables, each reference once, a sure one if there is any."""
    rows = UseTable(*map(np.concatenate, zip(*tables, strict=True)))
    rows = rows.at(np.argsort(rows.status == _CANDIDATE, kind="stable"))
    _, first = np.unique(rows.reference, return_index=True)
    return _ordered(graph, rows.at(first))


def _ordered(graph: Graph, rows: UseTable) -> UseTable:
    line, is_candidate = graph.references.line[rows.reference], rows.status == _CANDIDATE
    return rows.at(np.lexsort((rows.reference, line, rows.file, rows.group, is_candidate)))


def targets_of(graph: Graph, name: str, definitions: Iterable[DefinitionPlace]) -> list[int]:
    """Returns all definitions of the symbols at these places.

    These are the definitions of the same qualified name in the file, and those shared with other files.
    """
    symbols = graph.symbols
    asked = [_site(graph, node) for node in definitions_at(graph, definitions)]
    nodes = [
        node
        for qualified_name in dict.fromkeys(site.qualified_name for site in asked)
        for node in graph.qualified(qualified_name).tolist()
        if graph.strings[symbols.name[node]] == name
    ]
    return list(compress(nodes, same_symbol(asked, [_site(graph, node) for node in nodes])))


def references_by_name(graph: Graph, name: str) -> Numbers:
    """Returns references to a name, or that introduce it as an alias, by file and position."""
    return np.union1d(graph.references_to(name), graph.aliased(name))


def explained_lines(graph: Graph, name: str, uses: UseTable) -> dict[str, list[int]]:
    """Returns by path the lines that define or reference the name, or use the symbol under any name."""
    symbols, references = graph.named(name), np.union1d(references_by_name(graph, name), uses.reference)
    files = np.concatenate([graph.symbols.file[symbols], graph.files_of(graph.references.source[references])])
    lines = np.concatenate([graph.symbols.name_line[symbols], graph.references.line[references]])
    places = np.unique(files.astype(np.int64) << 32 | lines)
    file, first = np.unique(places >> 32, return_index=True)
    by_file = np.split(places & 0xFFFFFFFF, first[1:])
    return {graph.path(one): found.tolist() for one, found in zip(file.tolist(), by_file, strict=True)}


def used_lines(graph: Graph, uses: UseTable) -> dict[str, list[int]]:
    """Returns the lines of all references by group, status and path, separated by tabs."""
    lines = graph.references.line[uses.reference]
    found: dict[str, list[int]] = {}
    for group, status, file, line in zip(
        uses.group.tolist(), uses.status.tolist(), uses.file.tolist(), lines.tolist(), strict=True
    ):
        key = f"{_GROUPS[group].value}\t{EDGE_STATUSES[status].value}\t{graph.path(file)}"
        found.setdefault(key, []).append(line)
    return found


def definitions_at(graph: Graph, places: Iterable[DefinitionPlace]) -> list[int]:
    """Returns the definitions at these places."""
    return [node for place in places for node in _definitions_at(graph, place)]


def _definitions_at(graph: Graph, place: DefinitionPlace) -> Iterator[int]:
    file = graph.find_file(place.file_path)
    for node in graph.symbols_of(file) if file != NONE else ():
        is_there = graph.symbols.name_line[node] == place.name_line
        if is_there and graph.strings[graph.symbols.qualified_name[node]] == place.qualified_name:
            yield node


def _site(graph: Graph, node: int) -> Site:
    symbols = graph.symbols
    is_callable, is_bodiless = (
        SYMBOL_KINDS[symbols.kind[node]] in CALLABLE_KINDS,
        bool(symbols.bodiless[node]),
    )
    file = int(symbols.file[node])
    is_declaration = is_callable and is_bodiless and graph.strings[graph.files.language[file]] in C_FAMILY
    return Site(
        file,
        graph.strings[symbols.qualified_name[node]],
        bool(symbols.shared[node]),
        is_callable and not is_bodiless,
        is_declaration,
    )


def _resolved_references(graph: Graph, name: str, targets: Sequence[int]) -> Numbers:
    """Returns the references that resolve to a definition: by its name, by an alias, or without a name.

    What imports a whole module that is the symbol gives it any name.
    """
    found: Numbers = np.unique(np.concatenate([graph.meaning(target) for target in targets]))
    if name == CALLED:
        return found
    names = graph.references.name[found]
    is_import = graph.references.kind == _IMPORT
    given = graph.aliases.alias[np.isin(graph.aliases.reference, found[is_import[found]])]
    imported = names[is_import[found]]
    known = [
        string
        for string in np.unique(names).tolist()
        if string in given
        or string in imported
        or not graph.strings[string]
        or _is_alias_of(graph, graph.strings[string], name)
    ]
    kept: Numbers = found[np.isin(names, known) | (graph.references.strategy[found] == _STORED)]
    return kept


def _by_exported_names(graph: Graph, name: str, meant: Numbers, targets: Sequence[int]) -> Numbers:
    """Returns references by other names under which a file exports a definition, in files that import this file."""
    is_alias = np.isin(graph.aliases.reference, meant[graph.references.kind[meant] == _ALIAS])
    given = [graph.strings[alias] for alias in np.unique(graph.aliases.alias[is_alias]).tolist()]
    homes = {graph.file_of(target) for target in targets} if given else set()
    sources = [graph.edges.source[graph.edges_in(graph.file_node(home))] for home in homes]
    importing = graph.files_of(np.concatenate(sources)) if sources else np.empty(0, np.int32)
    found = [graph.references_to(one) for one in given if one != name]
    every = np.concatenate(found) if found else np.empty(0, np.int32)
    kept: Numbers = every[np.isin(graph.files_of(graph.references.source[every]), importing)]
    return kept


def _is_alias_of(graph: Graph, alias: str, name: str) -> bool:
    """Whether imports, one or several in a row, give this alias to the name or to a default export."""
    names = [alias]
    for known in names:
        if known in {name, DEFAULT}:
            return True
        names += [one for one in graph.names_of(known) if one not in names]
    return False


def may_be(graph: Graph, references: Numbers, targets: Sequence[int]) -> NDArray[np.bool_]:
    """Returns by reference whether it may mean one of the definitions of its name."""
    return _may_mean(graph, references, targets)


def _may_mean(graph: Graph, references: Numbers, targets: Sequence[int]) -> NDArray[np.bool_]:
    """Returns by reference whether it may mean a definition of its name."""
    table = graph.references
    language = graph.files.language[graph.files_of(table.source[references])]
    # One number for all four: thousands of references have few distinct combinations.
    alike = (
        language.astype(np.int64) << 24
        | table.kind[references].astype(np.int64) << 16
        | table.sought[references].astype(np.int64) << 8
        | table.has_qualifier[references]
    )
    distinct, kind = np.unique(alike, return_inverse=True)
    candidates = {_candidate(graph, target) for target in targets}
    uses = [
        NamedUse(
            graph.strings[one >> 24],
            REFERENCE_KINDS[one >> 16 & 0xFF],
            LOOKUP_KINDS[one >> 8 & 0xFF],
            bool(one & 1),
        )
        for one in distinct.tolist()
    ]
    may = [any(may_mean(use, candidate) for candidate in candidates) for use in uses]
    found: NDArray[np.bool_] = np.array(may, np.bool_)[kind]
    return found


def _candidate(graph: Graph, node: int) -> CandidateDefinition:
    symbols = graph.symbols
    parent = int(symbols.parent[node])
    language, kind = graph.strings[graph.files.language[symbols.file[node]]], SYMBOL_KINDS[symbols.kind[node]]
    return CandidateDefinition(
        language,
        kind,
        is_member=is_member(language, kind, graph.strings[symbols.qualified_name[node]]),
        is_local=parent != NONE and SYMBOL_KINDS[symbols.kind[parent]] in CALLABLE_KINDS,
        is_called=kind in VALUE_KINDS and bool(graph.strings[symbols.contract[node]]),
    )


def _is_only_symbol(graph: Graph, name: str) -> bool:
    """Whether all definitions of a name are one symbol."""
    named = graph.named(name)
    symbols = graph.symbols
    with_body = named[~symbols.bodiless[named]]
    if (
        len(np.unique(np.column_stack([symbols.file[with_body], symbols.qualified_name[with_body]]), axis=0))
        > 1
    ):
        return False
    program = Program()
    for file in np.unique(symbols.file[named]).tolist():
        program.add_unit(_unit(graph, file, named[symbols.file[named] == file].tolist()))
    return len(program.main_definitions(tuple(program.named(name)))) == 1


def _unit(graph: Graph, file: int, nodes: Sequence[int]) -> Unit:
    """Returns a file that defines only these symbols."""
    path = graph.path(file)
    return Unit(
        id=path,
        scope="",
        file=File(path, graph.strings[graph.files.language[file]]),
        definitions=[_definition(graph, node) for node in nodes],
        named={},
        imports={},
        wildcards=(),
        bases={},
        variables={},
        returns={},
        aliases={},
        folder=path.rpartition("/")[0],
    )


def _definition(graph: Graph, node: int) -> UnitDefinition:
    symbols = graph.symbols
    return UnitDefinition(
        graph.strings[symbols.name[node]],
        graph.strings[symbols.qualified_name[node]],
        SYMBOL_KINDS[symbols.kind[node]],
        parent=NONE,
        bodiless=bool(symbols.bodiless[node]),
        exported=bool(symbols.exported[node]),
    )
