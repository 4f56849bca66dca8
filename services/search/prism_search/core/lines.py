"""The matching lines of a text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_search.core.patterns import Pattern

LINE_CHARS_SHOWN = 500
# Characters of a block times the size of the pattern: 0.1 s at worst, at 6 ns each. Nearly always a file is one block.
# A longer line is a block of its own, because a match may be anywhere in it: the longest one that is indexed (512 KiB)
# and the largest pattern take 3 s at worst.
BLOCK_WORK = 16_000_000


class LineMatch(NamedTuple):
    """A matching line, from 1, and its neighbours as asked."""

    line: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class Block(NamedTuple):
    """What was found in some lines that follow each other, the last of which is `last_line`."""

    last_line: int
    matches: list[LineMatch]


def matching_lines(text: str, pattern: Pattern, *, after_line: int, context: int) -> Iterator[Block]:
    """The lines behind `after_line` that match, in order, block by block. A line ends at a line feed only.

    No block at all if the whole text can be told at once to have no match.
    """
    block_chars = BLOCK_WORK // pattern.size
    if len(text) <= block_chars and not pattern.may_match(text):
        return
    every_line: list[str] = []
    for first_line, lines in _blocks(text, block_chars):
        last_line = first_line + lines.count("\n")
        if last_line <= after_line:
            continue
        found: list[LineMatch] = []
        if pattern.may_match(lines):
            every_line = every_line or (text.split("\n") if context else [])
            found = [
                LineMatch(number, _shown(line), *_neighbours(every_line, number, context))
                for number, line in enumerate(lines.split("\n"), first_line)
                if number > after_line and pattern.matches(line)
            ]
        yield Block(last_line, found)


def _blocks(text: str, chars: int) -> Iterator[tuple[int, str]]:
    """Whole lines up to about so many characters, without the last one's end, with the number of the first."""
    start, line = 0, 1
    while start < len(text):
        end = text.find("\n", start + chars)
        if end < 0:
            end = len(text) - text.endswith("\n")
        block = text[start:end]
        yield line, block
        start = end + 1
        line += block.count("\n") + 1


def _neighbours(lines: Sequence[str], number: int, context: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """So many lines before and after."""
    ends = len(lines) - (lines[-1:] == [""])
    return (
        tuple(map(_shown, lines[max(0, number - 1 - context) : number - 1])),
        tuple(map(_shown, lines[number : min(number + context, ends)])),
    )


def _shown(line: str) -> str:
    stripped = line.removesuffix("\r")
    return stripped if len(stripped) <= LINE_CHARS_SHOWN else stripped[:LINE_CHARS_SHOWN] + "…"
