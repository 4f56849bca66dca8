"""What ranking knows of a file's symbols: kept as packed as it is stored, and read only where a question can match.

A question looks at the symbols of some 150 files, and few of them share the beginning of a word with it. An index
from the beginnings of words to lines finds those without a look at the others.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from prism_search.core.words import HEAD_CHARS, stems_of

_LINE_BITS = 16
FIELDS = 5
_DIGITS = {char: number for number, char in enumerate("0123456789abcdefghijklmnopqrstuvwxyz", start=1)}


class Definition(NamedTuple):
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

    def definitions(self) -> tuple[Definition, ...]:
        """All of them."""
        return parse_definitions(self.packed)

    def starting(self, heads: Iterable[str]) -> tuple[Definition, ...]:
        """Those whose name has a word that begins so: the only ones that can be like a word with such a head."""
        index, lines = self._index, set[int]()
        for head in heads:
            code = _code(head)
            for position in range(bisect_left(index, code << _LINE_BITS), len(index)):
                if index[position] >> _LINE_BITS != code:
                    break
                lines.add(index[position] & ((1 << _LINE_BITS) - 1))
        if not lines:
            return ()
        packed = self.packed.split("\n")
        return parse_definitions("\n".join(packed[line] for line in sorted(lines)))

    def may_define(self, name: str) -> bool:
        """False if no symbol has this name; True does not promise one."""
        return name in self.packed

    def has_kind(self, kind: str) -> bool:
        """Whether a symbol of this kind is defined."""
        return f"\t{kind}\t" in self.packed


def parse_definitions(packed: str) -> tuple[Definition, ...]:
    """The inverse of what the indexer writes into a file point's `definitions`."""
    found = []
    for line in packed.split("\n"):
        fields = line.split("\t")
        if len(fields) == FIELDS:
            group, kind, start, end, name = fields
            found.append(Definition(group, kind, int(start), int(end), name))
    return tuple(found)


def _index(packed: str) -> "array[int]":
    """Sorted numbers: the code of a word's head above the number of its line."""
    found = {
        _code(word[:HEAD_CHARS]) << _LINE_BITS | number
        for number, line in enumerate(packed.split("\n")[: 1 << _LINE_BITS])
        for word in stems_of(line.rpartition("\t")[2].rpartition(".")[2])
    }
    return array("I", sorted(found))


def _code(head: str) -> int:
    """A number for up to three letters or digits, different for different ones."""
    code = 0
    for char in head:
        code = code * (len(_DIGITS) + 1) + _DIGITS[char]
    return code


NO_OUTLINE = Outline("")
