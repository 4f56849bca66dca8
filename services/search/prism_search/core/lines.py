"""The matching lines of a text."""

from collections.abc import Iterator
from typing import NamedTuple

from prism_search.core.patterns import Pattern

LINE_CHARS_SHOWN = 500


class LineMatch(NamedTuple):
    """A matching line, from 1, and its neighbours as asked."""

    line: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def matching_lines(text: str, pattern: Pattern, *, after_line: int, context: int) -> Iterator[LineMatch]:
    """Lines behind `after_line` that match, in order. A line ends at a line feed only."""
    if pattern.literal and pattern.literal not in text:
        return
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for index in range(after_line, len(lines)):
        if pattern.matches(lines[index]):
            yield LineMatch(
                index + 1,
                _shown(lines[index]),
                tuple(map(_shown, lines[max(0, index - context) : index])),
                tuple(map(_shown, lines[index + 1 : index + 1 + context])),
            )


def _shown(line: str) -> str:
    stripped = line.removesuffix("\r")
    return stripped if len(stripped) <= LINE_CHARS_SHOWN else stripped[:LINE_CHARS_SHOWN] + "…"
