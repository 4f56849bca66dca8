"""Who uses a symbol: the edges to it among files, and what these leave of the lines that hold its name."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prism_contracts.code import (
    EDGE_KINDS,
    EdgeKind,
    EdgeStatus,
    Flag,
    Reference,
    ReferenceKind,
    Strategy,
    Symbol,
    SymbolFact,
)
from prism_contracts.rpc import ReferenceGroup
from prism_graph.facts import FileFacts
from prism_graph.languages import C_FAMILY
from prism_graph.modules import File
from prism_graph.program import Program
from prism_graph.resolution import Resolver, implementations
from prism_graph.unit import DEFAULT, INHERITS, Unit
from prism_graph.values import Place

PROSE = "p"

GROUPS: Mapping[EdgeKind, ReferenceGroup] = {
    EdgeKind.CALLS: ReferenceGroup.CALLERS,
    EdgeKind.IMPORTS: ReferenceGroup.IMPORTS,
    EdgeKind.EXTENDS: ReferenceGroup.SUBTYPES,
    EdgeKind.IMPLEMENTS: ReferenceGroup.SUBTYPES,
    EdgeKind.ASSIGNS: ReferenceGroup.ASSIGNMENTS,
    EdgeKind.REFERENCES: ReferenceGroup.TYPES,
}
ORDER = list(ReferenceGroup)


@dataclass(frozen=True)
class SourceFile:
    """An indexed file: what its parser saw, what others can see of it, and its lines, without ends."""

    facts: FileFacts
    unit: Unit
    lines: Sequence[str]

    @property
    def id(self) -> str:
        """Of the file point."""
        return self.facts.id

    @property
    def path(self) -> str:
        """Relative to the repository."""
        return self.facts.path

    @property
    def language(self) -> str:
        """As indexed."""
        return self.facts.language

    @property
    def flags(self) -> str:
        """Letters of what it is for, with PROSE."""
        return self.facts.flags

    @property
    def symbols(self) -> Sequence[Symbol | SymbolFact]:
        """What it defines."""
        return self.facts.symbols

    @property
    def references(self) -> Sequence[Reference]:
        """What it uses."""
        return self.facts.references


class Definition(NamedTuple):
    """A symbol and the file that has it."""

    file: SourceFile
    symbol: Symbol | SymbolFact


class Edge(NamedTuple):
    """A reference that means the symbol, or may."""

    file: SourceFile
    reference: Reference
    status: EdgeStatus
    strategy: Strategy


class Module(NamedTuple):
    """A module as a file imports it."""

    importer: File
    name: str


class Line(NamedTuple):
    """A line of a file."""

    file: SourceFile
    number: int


class Text(NamedTuple):
    """The lines that hold a name, and those of them that no definition and no reference explains."""

    lines: int
    elsewhere: int
    unexplained: Sequence[Line]


class Uses:
    """Who uses a symbol, among files that are read.

    Definitions of one qualified name in one file are one symbol, as are declarations and what they declare.
    """

    def __init__(
        self,
        definitions: Sequence[Definition],
        files: Sequence[SourceFile],
        program: Program | None = None,
    ) -> None:
        """`program` has no files yet; it may know what compilers' indexes and manifests say."""
        self._files = files
        self._name = definitions[0].symbol.name
        self._program = program or Program()
        self.learn(files)
        symbols = {_symbol_key(definition) for definition in definitions}
        self._targets = {
            Place(file.id, position)
            for file in files
            for position, symbol in enumerate(file.symbols)
            if symbol.name == self._name and _symbol_key(Definition(file, symbol)) in symbols
        }

    def learn(self, files: Iterable[SourceFile]) -> None:
        """Know what files define and import that are not looked through themselves."""
        for file in files:
            self._program.add_unit(file.unit)

    def missing(self) -> Iterable[Module]:
        """The modules that `edges` looked for and found in no file."""
        return [Module(importer, name) for importer, name in self._program.missing]

    def edges(self) -> list[Edge]:
        """Edges to any of the definitions, one a reference, in the order to show them."""
        names = _names_of(self._name, self._files)
        is_only_one = len(self._program.bodies(tuple(self._program.named(self._name)))) == 1
        by_name = Strategy.ONLY_DEFINITION if is_only_one else Strategy.NAME
        found = (edge for file in self._files for edge in self._edges_of(file, names, by_name))
        return sorted(found, key=_order)

    def _edges_of(self, file: SourceFile, names: Sequence[str], by_name: Strategy) -> Iterator[Edge]:
        resolver = Resolver(self._program, file.facts)
        for reference in file.references:
            if reference.name not in names:
                continue
            meaning = resolver.meaning(reference)
            if not self._targets.isdisjoint(meaning.places):
                strategy = by_name if meaning.status is EdgeStatus.CANDIDATE else meaning.strategy
                yield Edge(file, reference, meaning.status, strategy)
            elif reference.name == self._name and any(
                resolver.may_mean(reference, meaning.sought, place) for place in self._targets
            ):
                yield Edge(file, reference, EdgeStatus.CANDIDATE, by_name)
        yield from self._implementations_in(file)

    def _implementations_in(self, file: SourceFile) -> Iterator[Edge]:
        said = {(one.name, one.line) for one in file.facts.references if one.kind in INHERITS}
        for reference, places in implementations(self._program, file.facts):
            if not self._targets.isdisjoint(places) and (reference.name, reference.line) not in said:
                yield Edge(file, reference, EdgeStatus.RESOLVED, Strategy.SCIP)


def _names_of(name: str, files: Sequence[SourceFile]) -> Sequence[str]:
    """The name, and those under which files may import what has it, or pass it on."""
    aliases: dict[str, set[str]] = {}
    for file in files:
        for reference in file.references:
            if reference.alias and reference.kind is ReferenceKind.IMPORT:
                aliases.setdefault(reference.name, set()).add(reference.alias)
    names = [name, DEFAULT]
    for known in names:
        names += aliases.pop(known, ())
    return names


def group_of(edge: Edge) -> ReferenceGroup:
    """Where it is listed."""
    return ReferenceGroup.TESTS if Flag.TEST in edge.file.flags else GROUPS[EDGE_KINDS[edge.reference.kind]]


def count_groups(edges: Iterable[Edge]) -> dict[ReferenceGroup, int]:
    """Edges by group, in the order of groups."""
    counts = Counter(map(group_of, edges))
    return {group: counts[group] for group in ORDER if counts[group]}


def read_text(name: str, files: Sequence[SourceFile], edges: Sequence[Edge]) -> Text:
    """What the text outside of prose says of a name, beside what the parser knows of it."""
    word = word_pattern(name)
    lines = elsewhere = 0
    unexplained: list[Line] = []
    edge_ids = {id(edge.reference) for edge in edges}
    for file in files:
        if PROSE in file.flags:
            continue
        own = [reference for reference in file.references if reference.name == name]
        elsewhere += sum(id(reference) not in edge_ids for reference in own)
        told = {reference.line for reference in own} | {s.name_line for s in file.symbols if s.name == name}
        found = [number for number, line in enumerate(file.lines, 1) if name in line and word.search(line)]
        lines += len(found)
        unexplained += [Line(file, number) for number in found if number not in told]
    return Text(lines, elsewhere, unexplained)


def word_pattern(name: str) -> re.Pattern[str]:
    """The name as a whole word."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _symbol_key(definition: Definition) -> tuple[str, str]:
    """Equal for definitions of one symbol: those of a file, and in C a declaration and its body elsewhere."""
    symbol = definition.symbol
    is_shared = definition.file.language in C_FAMILY and not symbol.signature.startswith("static")
    return "" if is_shared else definition.file.id, symbol.qualified_name


def _order(edge: Edge) -> tuple[object, ...]:
    is_candidate = edge.status is EdgeStatus.CANDIDATE
    return (
        ORDER.index(group_of(edge)),
        is_candidate,
        edge.file.path,
        edge.file.facts.scope,
        edge.reference.line,
    )
