"""Extracts the pieces of text that every match of a pattern holds, for lookups in the signatures of files.

Reads a regular expression just far enough to find the literal text that every match contains, and skips the
rest of its syntax. A missed piece costs only speed, since each line is checked against the pattern itself, so
a piece is returned only if it is certain. The syntax is that of https://docs.rs/regex/latest/regex/#syntax.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from prism_store.grams import GRAM_BYTES

# Limits of one lookup: a piece of ten characters takes half a millisecond over 10,000 files.
CLAUSES_MAX = 4
PIECES_MAX = 16

# One of these pieces must be in the file.
Clause = frozenset[str]

TOKEN = re.compile(
    r"""
    (?P<flags>  \( \? (?P<set>[A-Za-z-]+) \) )
  | (?P<open>   \( (?: \? (?: P?<[^>]*> | (?P<local>[A-Za-z-]*) : ) )? )
  | (?P<close>  \) )
  | (?P<either> \| )
  | (?P<repeat> (?: [*+?] | \{ (?P<low>\d*) (?P<comma>,?) (?P<high>\d*) \} ) \?? )
  | (?P<escape> \\ (?: [pP]\{[^}]*\} | [pP]. | [xuU]\{[^}]*\} | x.{2} | u.{4} | U.{8} | b\{[a-z-]+\} | . ) )
  | (?P<other>  [.^$] )
  | (?P<class>  \[ )
  | (?P<char>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
# A `]` right after the start of a class is one of its characters.
CLASS_START = re.compile(r"\[\^?\]?")
CONTROL = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
UNBOUNDED = {"*": 0, "+": 1}


class Reading(NamedTuple):
    """What is known of a regular expression after reading it."""

    clauses: tuple[Clause, ...]
    size: int  # characters and classes, with repetitions written out
    flags: frozenset[str]  # letters of flags that are set, or with `-` before them unset, anywhere
    has_line_end: bool  # outside of classes
    has_text_end: bool  # `\A` or `\z`


def best_clauses(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Returns the most selective clauses: those with the longest pieces."""
    worth_asking = {clause for clause in clauses if len(clause) <= PIECES_MAX}
    return tuple(sorted(worth_asking, key=lambda clause: (-_strength(clause), sorted(clause)))[:CLAUSES_MAX])


def read_regex(pattern: str) -> Reading:
    """Reads a pattern that the engine accepts; for an invalid pattern, the result is meaningless."""
    reader = _Reader()
    at = 0
    while token := TOKEN.match(pattern, at):
        at = _class_end(pattern, at) if token.lastgroup == "class" else token.end()
        reader.take(token)
    whole = reader.whole()
    return Reading(
        tuple(whole.clauses), whole.size, frozenset(reader.flags), reader.has_line_end, reader.has_text_end
    )


class _Atom(NamedTuple):
    """What a repetition applies to: a character, or a group of which only the clauses are known."""

    char: str = ""
    clauses: tuple[Clause, ...] = ()
    size: int = 1
    ends_run: bool = False  # the next atom need not directly follow the character


class _Group:
    """The alternatives within brackets; the last one is being read."""

    def __init__(self) -> None:
        self.alternatives: list[list[_Atom]] = [[]]

    @property
    def atoms(self) -> list[_Atom]:
        return self.alternatives[-1]

    def repeat(self, low: int, high: int) -> None:
        if not self.atoms:
            return
        atom = self.atoms[-1]
        size = atom.size * max(low, high, 1)
        self.atoms[-1] = atom._replace(size=size, ends_run=True) if low else _Atom(size=size)

    def as_atom(self) -> _Atom:
        clauses = [_sequence_clauses(atoms) for atoms in self.alternatives]
        size = sum(atom.size for atoms in self.alternatives for atom in atoms)
        return _Atom(clauses=tuple(clauses[0] if len(clauses) == 1 else _either(clauses)), size=max(size, 1))


class _Reader:
    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.has_line_end = False
        self.has_text_end = False
        self._groups = [_Group()]

    def take(self, token: re.Match[str]) -> None:
        self._set_flags(token["set"] or token["local"] or "")
        match token.lastgroup:
            case "open":
                self._groups.append(_Group())
            case "close":
                self._close()
            case "either":
                self._group.alternatives.append([])
            case "repeat":
                self._group.repeat(*_bounds(token))
            case "char" | "escape":
                self._take_char(token[0])
            case "class" | "other":
                self._group.atoms.append(_Atom())

    def whole(self) -> _Atom:
        while len(self._groups) > 1:
            self._close()
        return self._group.as_atom()

    @property
    def _group(self) -> _Group:
        return self._groups[-1]

    def _close(self) -> None:
        if len(self._groups) > 1:
            closed = self._groups.pop()
            self._group.atoms.append(closed.as_atom())

    def _set_flags(self, letters: str) -> None:
        on, _, off = letters.partition("-")
        self.flags.update(on, (f"-{letter}" for letter in off))

    def _take_char(self, written: str) -> None:
        char = _literal(written)
        self.has_line_end |= char == "\n"
        self.has_text_end |= written in {r"\A", r"\z"}
        self._group.atoms.append(_Atom(char))


def _class_end(pattern: str, at: int) -> int:
    """Returns where the class that begins at `at` ends. Classes nest."""
    depth = 0
    while at < len(pattern):
        if opened := CLASS_START.match(pattern, at):
            depth += 1
            at = opened.end()
            continue
        depth -= pattern[at] == "]"
        at += 2 if pattern[at] == "\\" else 1
        if not depth:
            break
    return at


def _bounds(token: re.Match[str]) -> tuple[int, int]:
    """Returns the least and the greatest number of repetitions; without a greatest, the least twice."""
    sign = token[0][0]
    if sign != "{":
        return UNBOUNDED.get(sign, 0), 1
    low = int(token["low"] or 0)
    return low, int(token["high"] or low) if token["comma"] else low


def _literal(written: str) -> str:
    """Returns the character that an escape or a character matches; empty for a class or an assertion."""
    if written[0] != "\\" or len(written) == 1:
        return written
    kind, digits = written[1], written[2:].strip("{}")
    if kind in "xuU":
        return chr(int(digits, 16))
    if kind.isalnum() or kind in "<>":
        return CONTROL.get(kind, "")
    return kind


def _sequence_clauses(atoms: Iterable[_Atom]) -> list[Clause]:
    found: list[Clause] = []
    run = ""
    for atom in atoms:
        run += atom.char
        if atom.ends_run or not atom.char:
            found += [*_text_clauses(run), *atom.clauses]
            run = ""
    return found + _text_clauses(run)


def _text_clauses(text: str) -> list[Clause]:
    """Returns the clause of a literal text; none if it is shorter than a gram."""
    return [frozenset({text})] if len(text.encode("utf-8", "surrogatepass")) >= GRAM_BYTES else []


def _either(alternatives: Iterable[list[Clause]]) -> list[Clause]:
    """Returns one clause that holds whichever alternative matches: the best clause of each, joined."""
    best: list[Clause] = []
    for clauses in alternatives:
        if not clauses:
            return []
        best.append(max(clauses, key=_strength))
    return [frozenset().union(*best)]


def _strength(clause: Clause) -> int:
    return min(map(len, clause))
