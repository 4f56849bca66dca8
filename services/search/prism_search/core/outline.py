"""Keeps the symbols of files packed for ranking, and parses only those that a question may match.

A question scores the symbols of dozens of files, and few of them share the beginning of a word with it. An
index from the beginnings of words to lines finds those without parsing the others.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prism_search.core.words import stem_head
from prism_source.words import PART

_LINE_BITS = 16
FIELDS = 5
VALUE, CALLABLE = "V", "F"
# A value of at least so many lines, such as a table or an object of functions, counts as a place.
BLOCK_LINES_MIN = 3


class OutlineEntry(NamedTuple):
    """A symbol for ranking. `group`: T type-like, F callable, P prototype of a callable, V value."""

    group: str
    kind: str
    start: int
    end: int
    qualified_name: str

    @property
    def name(self) -> str:
        """The last component."""
        return self.qualified_name.rpartition(".")[2]


class Outline:
    """The definitions of a file, in the order of the file."""

    __slots__ = ("_index", "packed")

    def __init__(self, packed: str) -> None:
        self.packed = packed  # as the indexer writes it: one line per definition
        self._index = _index(packed)

    def definitions(self) -> tuple[OutlineEntry, ...]:
        """Returns all definitions."""
        return parse_definitions(self.packed.split("\n"))

    def holds(self, head: int) -> bool:
        """Whether a definition's name has a word with this beginning, see `head_code`."""
        index = self._index
        position = bisect_left(index, head << _LINE_BITS)
        return position < len(index) and index[position] >> _LINE_BITS == head

    def touched(self, heads: Iterable[int], is_wanted: Callable[[str], object]) -> tuple[OutlineEntry, ...]:
        """Returns the definitions with a wanted name whose name has a word with one of these beginnings."""
        lines = {line for head in heads for line in self._lines(head)}
        if not lines:
            return ()
        packed = self.packed.split("\n")
        found = (packed[line] for line in sorted(lines))
        # Most of these are not wanted, so the name is checked before the rest is parsed.
        return parse_definitions(line for line in found if is_wanted(_name(line)))

    def _lines(self, head: int) -> Iterator[int]:
        index = self._index
        first, last = bisect_left(index, head << _LINE_BITS), bisect_left(index, (head + 1) << _LINE_BITS)
        return (entry & ((1 << _LINE_BITS) - 1) for entry in index[first:last])

    def may_define(self, name: str) -> bool:
        """False if no symbol has this name; True does not promise one."""
        return name in self.packed

    def defines(self, name: str) -> bool:
        """Whether a symbol has this name, which has no dot."""
        return self.may_define(name) and any(_name(line) == name for line in self.packed.split("\n"))

    def has_kind(self, kind: str) -> bool:
        """Whether a symbol of this kind is defined."""
        return f"\t{kind}\t" in self.packed


def innermost(definitions: Iterable[OutlineEntry], line: int) -> OutlineEntry | None:
    """Returns the innermost definition around a line, except values of few lines; None at top level."""
    found = [one for one in definitions if one.start <= line <= one.end and is_place(one)]
    return min(found, key=lambda one: (one.end - one.start, -one.start), default=None)


def outermost_callable(definitions: Iterable[OutlineEntry], inner: OutlineEntry) -> OutlineEntry | None:
    """Returns the outermost function around a definition; None if it is not local to a function."""
    found = [
        one
        for one in definitions
        if one.group == CALLABLE
        and one.start <= inner.start
        and inner.end <= one.end
        and inner.qualified_name.startswith(f"{one.qualified_name}.")
    ]
    return max(found, key=lambda one: one.end - one.start, default=None)


def is_place(definition: OutlineEntry) -> bool:
    """Returns whether lines count as inside a definition: in any but values of few lines."""
    return definition.group != VALUE or definition.end - definition.start >= BLOCK_LINES_MIN


def parse_definitions(lines: Iterable[str]) -> tuple[OutlineEntry, ...]:
    """Parses the lines that the indexer writes into a file point's `definitions`."""
    found = []
    for line in lines:
        fields = line.split("\t")
        if len(fields) == FIELDS:
            group, kind, start, end, name = fields
            found.append(OutlineEntry(group, kind, int(start), int(end), name))
    return tuple(found)


def _index(packed: str) -> "array[int]":
    """Returns sorted numbers: the code of a word's head in the upper bits, the line number in the lower."""
    found = {
        stem_head(part) << _LINE_BITS | number
        for number, line in enumerate(packed.split("\n")[: 1 << _LINE_BITS])
        for part in PART.findall(_name(line))
    }
    return array("I", sorted(found))


def _name(line: str) -> str:
    return line.rpartition("\t")[2].rpartition(".")[2]


NO_OUTLINE = Outline("")
