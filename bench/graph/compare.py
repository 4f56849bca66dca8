"""Edges as they were answered beside edges as they are: what is right, what is wrong, what is missing.

An edge is a line of a file that uses a symbol. Definitions of one qualified name in one file are one symbol: overloads, the
setter of a property, an interface and the class that it is merged with.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from bench.graph.truth import Meaning, Truth, Use
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, EdgeKind, EdgeStatus, Strategy, SymbolKind

ASKED_KINDS = (CALLABLE_KINDS | TYPE_KINDS) - {SymbolKind.MODULE, SymbolKind.NAMESPACE, SymbolKind.MACRO}
# A call of a class calls this member of it.
CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "constructor"})
# Names of what a module exports as a whole, which Prism names by the file where it has no other name.
WHOLES = frozenset({"default", "exports"})
VALUE = "value"
CPP = frozenset({"h", "hh", "hpp", "hxx", "cc", "cpp", "cxx", "inl", "ipp"})


class Symbol(NamedTuple):
    """The subject of a question: a qualified name in a file."""

    path: str
    name: str


class Defined(NamedTuple):
    """A definition as the outline of a file shows it. Lines are 1-based and inclusive."""

    symbol: Symbol
    kind: SymbolKind
    start_line: int
    end_line: int

    @property
    def is_asked(self) -> bool:
        """Whether it is a function, a method or a type."""
        return self.kind in ASKED_KINDS


class Edge(NamedTuple):
    """A line that uses the symbol, according to the answer."""

    path: str
    line: int
    kind: EdgeKind
    status: EdgeStatus
    strategy: Strategy


class Answer(NamedTuple):
    """All edges to a symbol, and the number of lines with its name that no definition or
    reference explains.
    """

    asked: Symbol
    edges: tuple[Edge, ...]
    unexplained: int


class Verdict(StrEnum):
    """The verdict of the ground truth on an edge."""

    RIGHT = "right"
    WRONG = "wrong"  # the line means another definition, or one outside of the repository
    UNJUDGED = "unjudged"  # the truth does not know the line's meaning


class Judged(NamedTuple):
    """An answered edge. `uses` are the uses on its line that decided."""

    asked: Symbol
    edge: Edge
    verdict: Verdict
    uses: tuple[Use, ...]


class Sought(NamedTuple):
    """A true edge, and its confidence in the answer: None if it is missing."""

    asked: Symbol | None  # None if the outline does not have the definition
    use: Use
    meaning: Meaning
    status: EdgeStatus | None


class Comparison(NamedTuple):
    """The result for a repository. A false zero is a used symbol whose answer has no edge and no unexplained
    line.
    """

    judged: tuple[Judged, ...]
    sought: tuple[Sought, ...]
    false_zeros: tuple[Symbol, ...]


def is_cpp(path: str) -> bool:
    """Whether a file may be of C++."""
    return path.rpartition(".")[2] in CPP


def compare(truth: Truth, defined: Sequence[Defined], answers: Sequence[Answer]) -> Comparison:
    """Compare every answered edge within the files of the truth with every true edge."""
    symbols = _Symbols(defined)
    lines: dict[tuple[str, int], list[Use]] = defaultdict(list)
    for use in truth.uses:
        lines[use.path, use.line].append(use)
    judged = [
        _judge(answer.asked, edge, lines[edge.path, edge.line], symbols)
        for answer in answers
        if answer.asked.path not in truth.unbuilt
        for edge in _one_a_line(answer.edges)
        if edge.path in truth.files
    ]
    sought = list(_seek(truth.uses, symbols, answers))
    used = {one.asked for one in sought}
    zeros = [one.asked for one in answers if one.asked in used and not one.edges and not one.unexplained]
    return Comparison(tuple(judged), tuple(sought), tuple(zeros))


class _Symbols:
    """Maps definitions of the truth to symbols, and names to the symbols that they may denote."""

    def __init__(self, defined: Iterable[Defined]) -> None:
        self._by_name: dict[tuple[str, str], list[Defined]] = defaultdict(list)
        self._by_path: dict[str, list[Defined]] = defaultdict(list)
        self._members: dict[str, list[Symbol]] = defaultdict(list)  # of C++, by qualified name
        for one in defined:
            if is_cpp(one.symbol.path) and "." in one.symbol.name:
                self._members[one.symbol.name].append(one.symbol)
            self._by_name[one.symbol.path, _last(one.symbol.name)].append(one)
            self._by_path[one.symbol.path].append(one)

    def of(self, meaning: Meaning) -> Symbol | None:
        """The innermost definition of that name around the line."""
        around = [
            one
            for one in self._by_name[meaning.path, meaning.name]
            if one.start_line <= meaning.line <= one.end_line and one.is_asked is (meaning.kind != VALUE)
        ]
        if not around and meaning.name in WHOLES:
            around = [
                one
                for one in self._by_path[meaning.path]
                if one.start_line <= meaning.line <= one.end_line
                and one.is_asked
                and "." not in one.symbol.name
            ]
        return max(around, key=lambda one: one.start_line).symbol if around else None

    def meant_by(self, asked: Symbol) -> frozenset[Symbol]:
        """A question for `get` covers every `get` of the file, and one for `Session.get` that of any
        `Session` in it. In C++ a member of a name is one symbol, in its header and in its source.
        """
        same = [one.symbol for one in self._by_name[asked.path, _last(asked.name)]]
        elsewhere = self._members.get(asked.name, ()) if is_cpp(asked.path) else ()
        return frozenset(
            one
            for one in (*same, *elsewhere)
            if one == asked or one.name == asked.name or one.name.endswith(f".{asked.name}")
        )


def _judge(asked: Symbol, edge: Edge, uses: Sequence[Use], symbols: _Symbols) -> Judged:
    meant = symbols.meant_by(asked)
    if any(_is_meant(symbols.of(meaning), meant) for use in uses for meaning in use.means):
        return Judged(asked, edge, Verdict.RIGHT, ())
    # If the line has the name itself, the name decides; else the symbol is used under an alias.
    deciding = [use for use in uses if use.name == _last(asked.name)] or uses
    # What a field holds is no meaning of its name.
    is_known = (
        edge.strategy is not Strategy.STORED and bool(deciding) and all(use.is_known for use in deciding)
    )
    return Judged(asked, edge, Verdict.WRONG if is_known else Verdict.UNJUDGED, tuple(deciding))


def _is_meant(found: Symbol | None, meant: frozenset[Symbol]) -> bool:
    if found is None:
        return False
    constructors = CONSTRUCTORS | {_last(found.name)}  # in Java it has the name of its class
    return found in meant or any(Symbol(found.path, f"{found.name}.{made}") in meant for made in constructors)


def _one_a_line(edges: Iterable[Edge]) -> Iterable[Edge]:
    """Returns the edge with the highest confidence per line."""
    best: dict[tuple[str, int], Edge] = {}
    for edge in edges:
        known = best.setdefault((edge.path, edge.line), edge)
        if known.status is EdgeStatus.CANDIDATE and edge.status is EdgeStatus.RESOLVED:
            best[edge.path, edge.line] = edge
    return best.values()


def _seek(uses: Iterable[Use], symbols: _Symbols, answers: Iterable[Answer]) -> Iterator[Sought]:
    shown = {answer.asked: _statuses(answer) for answer in answers}
    seen = set()
    for use in uses:
        for meaning in use.means:
            asked = symbols.of(meaning)
            key = (use.path, use.line, asked or meaning)
            if meaning.kind != VALUE and key not in seen:
                seen.add(key)
                status = shown[asked].get((use.path, use.line)) if asked in shown else None
                yield Sought(asked, use, meaning, status)


def _statuses(answer: Answer) -> Mapping[tuple[str, int], EdgeStatus]:
    return {(edge.path, edge.line): edge.status for edge in _one_a_line(answer.edges)}


def _last(name: str) -> str:
    return name.rpartition(".")[2]
