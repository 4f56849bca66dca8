"""What ranking knows of a file's symbols: kept as packed as it is stored, and read only where a question can match.

A question looks at the symbols of dozens of files, and few of them share the beginning of a word with it. An index
from the beginnings of words to lines finds those without a look at the others.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prism_search.core.words import PART, stem_head

_LINE_BITS = 16
FIELDS = 5
VALUE = "V"
# A value of so many lines, such as a table or an object of functions, is a place of its own.
BLOCK_LINES_MIN = 3


class OutlineEntry(NamedTuple):
    """What ranking knows of a symbol. `group`: T type-like, F callable, P prototype of a callable, V value."""

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
        self.packed = packed  # as the indexer writes it: one line a definition
        self._index = _index(packed)

    def definitions(self) -> tuple[OutlineEntry, ...]:
        """All of them."""
        return parse_definitions(self.packed.split("\n"))

    def holds(self, head: int) -> bool:
        """Whether the name of a definition has a word that begins so, by `head_code`."""
        index = self._index
        position = bisect_left(index, head << _LINE_BITS)
        return position < len(index) and index[position] >> _LINE_BITS == head

    def touched(self, heads: Iterable[int], is_wanted: Callable[[str], object]) -> tuple[OutlineEntry, ...]:
        """Those with a wanted name among those whose name has a word that begins so."""
        lines = {line for head in heads for line in self._lines(head)}
        if not lines:
            return ()
        packed = self.packed.split("\n")
        found = (packed[line] for line in sorted(lines))
        # Most that begin so are not wanted: the name is looked at before the rest is read.
        return parse_definitions(line for line in found if is_wanted(_name(line)))

    def _lines(self, head: int) -> Iterator[int]:
        index = self._index
        first, last = bisect_left(index, head << _LINE_BITS), bisect_left(index, (head + 1) << _LINE_BITS)
        return (entry & ((1 << _LINE_BITS) - 1) for entry in index[first:last])

    def around(self, line: int) -> OutlineEntry | None:
        """Returns the innermost definition around a line, except values of few lines; None at top level."""
        found = [
            definition
            for definition in self.definitions()
            if definition.start <= line <= definition.end
            and (definition.group != VALUE or definition.end - definition.start >= BLOCK_LINES_MIN)
        ]
        return min(found, key=lambda one: (one.end - one.start, -one.start), default=None)

    def may_define(self, name: str) -> bool:
        """False if no symbol has this name; True does not promise one."""
        return name in self.packed

    def defines(self, name: str) -> bool:
        """Whether a symbol has this name, which has no dot."""
        return self.may_define(name) and any(_name(line) == name for line in self.packed.split("\n"))

    def has_kind(self, kind: str) -> bool:
        """Whether a symbol of this kind is defined."""
        return f"\t{kind}\t" in self.packed


def parse_definitions(lines: Iterable[str]) -> tuple[OutlineEntry, ...]:
    """The inverse of what the indexer writes into the lines of a file point's `definitions`."""
    found = []
    for line in lines:
        fields = line.split("\t")
        if len(fields) == FIELDS:
            group, kind, start, end, name = fields
            found.append(OutlineEntry(group, kind, int(start), int(end), name))
    return tuple(found)


def _index(packed: str) -> "array[int]":
    """Sorted numbers: the code of a word's head above the number of its line."""
    found = {
        stem_head(part) << _LINE_BITS | number
        for number, line in enumerate(packed.split("\n")[: 1 << _LINE_BITS])
        for part in PART.findall(_name(line))
    }
    return array("I", sorted(found))


def _name(line: str) -> str:
    return line.rpartition("\t")[2].rpartition(".")[2]


NO_OUTLINE = Outline("")
