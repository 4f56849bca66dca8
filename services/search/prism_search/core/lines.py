"""Finds the matching lines of a text."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from prism_search.core.patterns import Pattern

LINE_CHARS_SHOWN = 300
# Characters times the size of the pattern: more takes too long to find where the match of a line is.
CUT_WORK_MAX = 500_000
# Characters times the size of the pattern, at 6 to 22 ns each. The engine holds Python's lock while it
# matches, which blocks every other question, so a text is matched in slices of whole lines, 20 ms each at
# worst. Most files are one slice.
SLICE_WORK = 1_000_000
# A line is never cut, because a match may be anywhere in it. Above this, 0.2 s at worst, a child process
# matches it.
LINE_WORK_MAX = 8_000_000

# Matches a line that is too long for this process.
MatchInProcess = Callable[[Pattern, str], bool]
# Whether a matching line counts; the function tries the pattern on a part of it.
Counts = Callable[[int, str, Callable[[str], bool]], bool]


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
    text: str,
    pattern: Pattern,
    match_in_process: MatchInProcess,
    *,
    after_line: int = 0,
    lines_max: int,
    counts: Counts | None = None,
) -> Iterator[Slice]:
    """Yields the matching lines after `after_line` that count, slice by slice, up to `lines_max`.

    Only a line feed ends a line. Yields nothing if one match of the whole text shows that it has none. If
    `lines_max` ends the search, the last slice ends with the last line found.
    """
    slice_chars = SLICE_WORK // pattern.size
    if len(text) <= slice_chars and not pattern.may_match(text):
        return
    room = lines_max

    def matches(part: str) -> bool:
        return _matches(part, pattern, match_in_process)

    for first_line, lines in _slices(text, slice_chars):
        last_line = first_line + lines.count("\n")
        if last_line <= after_line:
            continue
        matching = _matching(first_line, lines, pattern, match_in_process)
        counted = (
            line
            for line in matching
            if line.number > after_line and (counts is None or counts(line.number, line.text, matches))
        )
        found = list(islice(counted, room))
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


def shown(line: str, pattern: Pattern | None = None) -> str:
    """Returns a line as answers show it: a very long one is cut around its first match, else at its end."""
    stripped = line.removesuffix("\r")
    if len(stripped) <= LINE_CHARS_SHOWN:
        return stripped
    at = _end_of_match(stripped, pattern) if pattern and len(stripped) * pattern.size <= CUT_WORK_MAX else 0
    start = max(0, min(at - LINE_CHARS_SHOWN // 2, len(stripped) - LINE_CHARS_SHOWN)) if at else 0
    end = start + LINE_CHARS_SHOWN
    return f"{'…' if start else ''}{stripped[start:end]}{'…' if end < len(stripped) else ''}"


def _end_of_match(line: str, pattern: Pattern) -> int:
    """Returns where the first match ends: the length of the shortest beginning that matches; 0 if none is found."""
    lengths = range(len(line) + 1)
    return bisect_left(lengths, x=True, key=lambda length: pattern.matches(line[:length])) % len(lengths)


def _matching(
    first_line: int, lines: str, pattern: Pattern, match_in_process: MatchInProcess
) -> Iterator[NumberedLine]:
    if "\n" in lines:
        if pattern.may_match(lines):
            numbered = enumerate(lines.split("\n"), first_line)
            yield from (NumberedLine(number, line) for number, line in numbered if pattern.matches(line))
        return
    if _matches(lines, pattern, match_in_process):
        yield NumberedLine(first_line, lines)


def _matches(line: str, pattern: Pattern, match_in_process: MatchInProcess) -> bool:
    too_long = len(line) * pattern.size > LINE_WORK_MAX
    return match_in_process(pattern, line) if too_long else pattern.matches(line)


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
