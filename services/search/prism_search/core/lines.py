"""Finds the matching lines of a text."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from prism_search.core.patterns import Pattern

LINE_CHARS_SHOWN = 500
# Characters times the size of the pattern, at 6 to 22 ns each. The engine holds Python's lock while it
# matches, which blocks every other question, so a text is matched in slices of whole lines, 20 ms each at
# worst. Most files are one slice.
SLICE_WORK = 1_000_000
# A line is never cut, because a match may be anywhere in it. Above this, 0.2 s at worst, a child process
# matches it.
LINE_WORK_MAX = 8_000_000

# Matches a line that is too long for this process.
MatchInProcess = Callable[[Pattern, str], bool]


class NumberedLine(NamedTuple):
    """A line without its line feed, numbered from 1."""

    number: int
    text: str


class Slice(NamedTuple):
    """The matching lines of some consecutive lines, which end with `last_line`."""

    last_line: int
    found: list[NumberedLine]


def lines_of(text: str) -> list[str]:
    """Returns the lines of a file without line feeds. No line begins after a final line feed."""
    return text.removesuffix("\n").split("\n")


def matching_lines(
    text: str, pattern: Pattern, match_in_process: MatchInProcess, *, after_line: int = 0, lines_max: int
) -> Iterator[Slice]:
    """Yields the matching lines after `after_line`, slice by slice, up to `lines_max`.

    Only a line feed ends a line. Yields nothing if one match of the whole text shows that it has none. If
    `lines_max` ends the search, the last slice ends with the last line found.
    """
    slice_chars = SLICE_WORK // pattern.size
    if len(text) <= slice_chars and not pattern.may_match(text):
        return
    room = lines_max
    for first_line, lines in _slices(text, slice_chars):
        last_line = first_line + lines.count("\n")
        if last_line <= after_line:
            continue
        matching = _matching(first_line, lines, pattern, match_in_process)
        found = list(islice((line for line in matching if line.number > after_line), room))
        room -= len(found)
        yield Slice(last_line if room else found[-1].number, found)
        if not room:
            return


def neighbours(lines: Sequence[str], number: int, context: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns `context` lines before and after a line, as shown. `lines` is the text, split at line feeds."""
    ends = len(lines) - (lines[-1:] == [""])
    return (
        tuple(map(shown, lines[max(0, number - 1 - context) : number - 1])),
        tuple(map(shown, lines[number : min(number + context, ends)])),
    )


def shown(line: str, literal: str = "") -> str:
    """Returns a line as answers show it: a very long one is cut around the literal, else at its end."""
    stripped = line.removesuffix("\r")
    if len(stripped) <= LINE_CHARS_SHOWN:
        return stripped
    at = max(0, stripped.lower().find(literal.lower())) if literal else 0
    start = max(0, min(at - LINE_CHARS_SHOWN // 2, len(stripped) - LINE_CHARS_SHOWN)) if at else 0
    end = start + LINE_CHARS_SHOWN
    return f"{'…' if start else ''}{stripped[start:end]}{'…' if end < len(stripped) else ''}"


def _matching(
    first_line: int, lines: str, pattern: Pattern, match_in_process: MatchInProcess
) -> Iterator[NumberedLine]:
    if "\n" in lines:
        if pattern.may_match(lines):
            numbered = enumerate(lines.split("\n"), first_line)
            yield from (NumberedLine(number, line) for number, line in numbered if pattern.matches(line))
        return
    too_long = len(lines) * pattern.size > LINE_WORK_MAX
    if match_in_process(pattern, lines) if too_long else pattern.matches(lines):
        yield NumberedLine(first_line, lines)


def _slices(text: str, chars: int) -> Iterator[tuple[int, str]]:
    """Yields parts of a text, each with the number of its first line.

    A part is whole lines of at most `chars` characters, or one longer line, without the final line end.
    """
    start, line = 0, 1
    while start < len(text):
        end = _slice_end(text, start, chars)
        part = text[start:end]
        yield line, part
        start = end + 1
        line += part.count("\n") + 1


def _slice_end(text: str, start: int, chars: int) -> int:
    if len(text) - start > chars:
        end = text.rfind("\n", start, start + chars + 1)
        if end < 0:
            end = text.find("\n", start + chars + 1)
        if end >= 0:
            return end
    return len(text) - text.endswith("\n")
