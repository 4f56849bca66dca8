"""Resolves which references among a set of files mean a symbol."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

from prism_contracts.code import (
    CALLABLE_KINDS,
    EdgeStatus,
    Flag,
    Reference,
    Strategy,
    Symbol,
    SymbolFact,
)
from prism_contracts.rpc.symbols import REFERENCE_GROUPS, ReferenceGroup
from prism_resolver.facts import FileFacts
from prism_resolver.languages import C_FAMILY
from prism_resolver.modules import File
from prism_resolver.program import Program
from prism_resolver.resolution import Resolver
from prism_resolver.unit import DEFAULT, MODULE_EXPORTS, Site, Unit, is_shared, same_symbol
from prism_resolver.values import SymbolRef

PROSE = "p"

ORDER = list(ReferenceGroup)


@dataclass(frozen=True)
class SourceFile:
    """An indexed file: what its parser found, what it exports, and its lines without line ends."""

    facts: FileFacts
    unit: Unit
    lines: Sequence[str]

    @property
    def id(self) -> str:
        """The id of the file point."""
        return self.facts.id

    @property
    def path(self) -> str:
        """The path, relative to the repository."""
        return self.facts.path

    @property
    def language(self) -> str:
        """The language, as indexed."""
        return self.facts.language

    @property
    def flags(self) -> str:
        """The letters of its flags, and PROSE."""
        return self.facts.flags

    @property
    def symbols(self) -> Sequence[Symbol | SymbolFact]:
        """The symbols that it defines."""
        return self.facts.symbols

    @property
    def references(self) -> Sequence[Reference]:
        """The references that it makes."""
        return self.facts.references


class DefinedSymbol(NamedTuple):
    """A symbol and the file that defines it."""

    file: SourceFile
    symbol: Symbol | SymbolFact


class Edge(NamedTuple):
    """A reference that resolves to the symbol, or may."""

    file: SourceFile
    reference: Reference
    status: EdgeStatus
    strategy: Strategy


class Module(NamedTuple):
    """A module as a file imports it."""

    importer: File
    name: str


class Uses:
    """The references to a symbol among a set of files.

    Definitions of one qualified name in one file are one symbol, as are a declaration and its definition: see
    `same_symbol`.
    """

    def __init__(
        self,
        definitions: Sequence[DefinedSymbol],
        files: Sequence[SourceFile],
        program: Program | None = None,
    ) -> None:
        """`program` has no files yet; it may have compilers' indexes and manifests."""
        self._files = files
        self._name = definitions[0].symbol.name
        self._is_settled = True
        self._program = program or Program()
        self.learn(files)
        # Names under which a whole module is imported that is the symbol.
        self._modules = [name for one in definitions for name in _module_names(one.file)]
        named = [
            (SymbolRef(file.id, position), _site(DefinedSymbol(file, symbol)))
            for file in files
            for position, symbol in enumerate(file.symbols)
            if symbol.name == self._name
        ]
        is_asked = same_symbol([_site(one) for one in definitions], [site for _, site in named])
        self._targets = {ref for ref, _ in compress(named, is_asked)}

    def learn(self, files: Iterable[SourceFile]) -> None:
        """Adds files whose definitions and imports help to resolve, but whose references are not searched."""
        for file in files:
            self._program.add_unit(file.unit)

    def missing(self) -> Iterable[Module]:
        """Returns the modules that `edges` looked up and no file provides."""
        return [Module(importer, name) for importer, name in self._program.missing]

    @property
    def is_settled(self) -> bool:
        """Whether `edges` found a sure definition for each reference by the name: no other file can change the edges.

        What a call on an object of a file that was not read means looks like a name of another repository.
        """
        return self._is_settled

    def edges(self) -> list[Edge]:
        """Returns the edges to any of the definitions, one per reference, in the order to show them."""
        self._is_settled = True
        names = _names_of(self._name, self._files, self._modules)
        is_only_one = len(self._program.main_definitions(tuple(self._program.named(self._name)))) == 1
        by_name = Strategy.ONLY_DEFINITION if is_only_one else Strategy.NAME
        found = (edge for file in self._files for edge in self._edges_of(file, names, by_name))
        return sorted(found, key=_order)

    def _edges_of(self, file: SourceFile, names: Sequence[str], by_name: Strategy) -> Iterator[Edge]:
        resolver = Resolver(self._program, file.facts)
        for reference in file.references:
            if reference.name not in names:
                continue
            meaning = resolver.meaning(reference)
            self._is_settled &= bool(meaning.targets) and meaning.status is EdgeStatus.RESOLVED
            if not self._targets.isdisjoint(meaning.targets):
                strategy = by_name if meaning.status is EdgeStatus.CANDIDATE else meaning.strategy
                yield Edge(file, reference, meaning.status, strategy)
            elif reference.name == self._name and any(
                resolver.may_mean(reference, meaning.lookup, place) for place in self._targets
            ):
                yield Edge(file, reference, EdgeStatus.CANDIDATE, by_name)
        for position, meaning in resolver.stored_calls():
            if not self._targets.isdisjoint(meaning.targets):
                yield Edge(file, file.references[position], meaning.status, meaning.strategy)
        for reference, meaning in resolver.implementations():
            if not self._targets.isdisjoint(meaning.targets):
                yield Edge(file, reference, meaning.status, meaning.strategy)


def _module_names(file: SourceFile) -> Iterator[str]:
    """Yields the names of a file that CommonJS imports as a whole: `require("./depot")`, `require("./depot.js")`."""
    if any(binding.name == MODULE_EXPORTS for binding in file.facts.bindings):
        folder, _, name = file.path.rpartition("/")
        yield from (name, name.partition(".")[0], folder.rpartition("/")[2])


def _names_of(name: str, files: Sequence[SourceFile], modules: Iterable[str]) -> Sequence[str]:
    """Returns the name, those of the module that it is, and their aliases in imports and exports."""
    aliases: dict[str, set[str]] = {}
    for file in files:
        for reference in file.references:
            if reference.alias:
                aliases.setdefault(reference.name, set()).add(reference.alias)
    names = [name, DEFAULT, *modules]
    for known in names:
        names += aliases.pop(known, ())
    return names


def group_of(edge: Edge) -> ReferenceGroup:
    """Returns the group that lists an edge."""
    return ReferenceGroup.TESTS if Flag.TEST in edge.file.flags else REFERENCE_GROUPS[edge.reference.kind]


def count_groups(edges: Iterable[Edge]) -> dict[ReferenceGroup, int]:
    """Returns the number of edges by group, in the order of groups."""
    counts = Counter(map(group_of, edges))
    return {group: counts[group] for group in ORDER if counts[group]}


def count_elsewhere(name: str, files: Iterable[SourceFile], edges: Iterable[Edge]) -> int:
    """Counts the references by a name that mean another symbol, except in prose."""
    ids = {id(edge.reference) for edge in edges}
    own = (one for file in files if PROSE not in file.flags for one in naming(name, file))
    return sum(id(reference) not in ids for reference in own)


def naming(name: str, file: SourceFile) -> Iterator[Reference]:
    """Returns the references by a name, or to it: `import { toll as rate }` is both."""
    return (one for one in file.references if name in (one.name, one.alias))


def _site(definition: DefinedSymbol) -> Site:
    file, symbol = definition
    is_callable = symbol.kind in CALLABLE_KINDS
    return Site(
        file.id,
        symbol.qualified_name,
        is_shared(file.language, symbol.signature),
        is_callable and not symbol.bodiless,
        is_callable and symbol.bodiless and file.language in C_FAMILY,
    )


def _order(edge: Edge) -> tuple[object, ...]:
    is_candidate = edge.status is EdgeStatus.CANDIDATE
    return (
        is_candidate,
        ORDER.index(group_of(edge)),
        edge.file.path,
        edge.file.facts.scope,
        edge.reference.line,
    )
