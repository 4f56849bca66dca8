"""Who uses a symbol: the edges to it among files, and what these leave of the lines that hold its name."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from prism_contracts.code import (
    EDGE_KINDS,
    EdgeStatus,
    Flag,
    Reference,
    Strategy,
    Symbol,
    SymbolFact,
)
from prism_contracts.rpc.symbols import REFERENCE_GROUPS, ReferenceGroup
from prism_resolver.facts import FileFacts
from prism_resolver.modules import File
from prism_resolver.program import Program
from prism_resolver.resolution import Resolver
from prism_resolver.unit import DEFAULT, Unit, is_shared
from prism_resolver.values import SymbolRef

PROSE = "p"

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


@dataclass(frozen=True)
class TextFile:
    """A file by its text, and the lines that define or refer to something of a name, as far as the parser knows."""

    scope: str
    path: str
    is_prose: bool
    text: str
    told: Collection[int]

    @cached_property
    def lines(self) -> Sequence[str]:
        """Without their ends."""
        return self.text.split("\n")


class Line(NamedTuple):
    """A line of a file."""

    file: TextFile
    number: int

    @property
    def text(self) -> str:
        """Without its end; empty if the file has no such line."""
        return "".join(self.file.lines[self.number - 1 : self.number])


class Text(NamedTuple):
    """The lines that hold a name, and those of them that no definition and no reference explains."""

    files: int  # that have such lines, without those of prose, as all that follows but for the last two
    lines: int
    unexplained: Sequence[Line]
    prose_files: int
    prose_lines: int


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
            SymbolRef(file.id, position)
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
            if not self._targets.isdisjoint(meaning.targets):
                strategy = by_name if meaning.status is EdgeStatus.CANDIDATE else meaning.strategy
                yield Edge(file, reference, meaning.status, strategy)
            elif reference.name == self._name and any(
                resolver.may_mean(reference, meaning.lookup, place) for place in self._targets
            ):
                yield Edge(file, reference, EdgeStatus.CANDIDATE, by_name)
        for reference, meaning in resolver.implementations():
            if not self._targets.isdisjoint(meaning.targets):
                yield Edge(file, reference, meaning.status, meaning.strategy)


def _names_of(name: str, files: Sequence[SourceFile]) -> Sequence[str]:
    """The name, and those under which files may import what has it, or pass it on."""
    aliases: dict[str, set[str]] = {}
    for file in files:
        for reference in file.references:
            if reference.alias:
                aliases.setdefault(reference.name, set()).add(reference.alias)
    names = [name, DEFAULT]
    for known in names:
        names += aliases.pop(known, ())
    return names


def group_of(edge: Edge) -> ReferenceGroup:
    """Where it is listed."""
    return (
        ReferenceGroup.TESTS
        if Flag.TEST in edge.file.flags
        else REFERENCE_GROUPS[EDGE_KINDS[edge.reference.kind]]
    )


def count_groups(edges: Iterable[Edge]) -> dict[ReferenceGroup, int]:
    """Edges by group, in the order of groups."""
    counts = Counter(map(group_of, edges))
    return {group: counts[group] for group in ORDER if counts[group]}


def read_text(name: str, files: Iterable[TextFile]) -> Text:
    """What the text says of a name, beside what the parser knows of it."""
    found = [(file, lines) for file in files if (lines := lines_with(name, file.text))]
    code = [(file, lines) for file, lines in found if not file.is_prose]
    prose = [lines for file, lines in found if file.is_prose]
    return Text(
        files=len(code),
        lines=_total(lines for _, lines in code),
        unexplained=[
            Line(file, number) for file, lines in code for number in lines if number not in file.told
        ],
        prose_files=len(prose),
        prose_lines=_total(prose),
    )


def lines_with(name: str, text: str) -> list[int]:
    """The lines that hold a name as a whole word, 1-based."""
    lines: list[int] = []
    line, counted = 1, 0
    at = text.find(name)
    while at >= 0:
        after = at + len(name)
        if not (_is_word(text[at - 1 : at]) or _is_word(text[after : after + 1])):
            line += text.count("\n", counted, at)
            counted = text.find("\n", at)  # one line is told once
            lines.append(line)
            if counted < 0:
                break
            after = counted
        at = text.find(name, max(after, at + 1))
    return lines


def as_texts(name: str, files: Iterable[SourceFile], edges: Iterable[Edge]) -> list[TextFile]:
    """The texts of files that were read, and what their parser knows of a name. What an edge is of is told whatever it is called there."""
    used: dict[str, set[int]] = defaultdict(set)
    for edge in edges:
        used[edge.file.id].add(edge.reference.line)
    return [
        TextFile(
            file.facts.scope,
            file.path,
            PROSE in file.flags,
            "\n".join(file.lines),
            {symbol.name_line for symbol in file.symbols if symbol.name == name}
            | {reference.line for reference in _naming(name, file)}
            | used[file.id],
        )
        for file in files
    ]


def count_elsewhere(name: str, files: Iterable[SourceFile], edges: Iterable[Edge]) -> int:
    """The references of a name that mean something else, outside of prose."""
    ids = {id(edge.reference) for edge in edges}
    own = (one for file in files if PROSE not in file.flags for one in _naming(name, file))
    return sum(id(reference) not in ids for reference in own)


def _naming(name: str, file: SourceFile) -> Iterator[Reference]:
    """The references of a file by a name, or that give it: `import { toll as rate }` is of both."""
    return (one for one in file.references if name in (one.name, one.alias))


def _total(many: Iterable[Sequence[int]]) -> int:
    return sum(map(len, many))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _symbol_key(definition: Definition) -> tuple[str, str]:
    """Equal for definitions of one symbol."""
    file, symbol = definition
    return "" if is_shared(file.language, symbol.signature) else file.id, symbol.qualified_name


def _order(edge: Edge) -> tuple[object, ...]:
    is_candidate = edge.status is EdgeStatus.CANDIDATE
    return (
        ORDER.index(group_of(edge)),
        is_candidate,
        edge.file.path,
        edge.file.facts.scope,
        edge.reference.line,
    )
