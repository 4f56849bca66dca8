"""The matching lines of a text."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from prism_search.core.patterns import Pattern

LINE_CHARS_SHOWN = 500
# Characters times the size of the pattern, at 6 to 22 ns each. The engine holds Python's lock while it matches, and with it
# every other question: so a text is taken in slices of whole lines, of 20 ms at worst. Most files are one slice.
SLICE_WORK = 1_000_000
# A line is never cut, because a match may be anywhere in it. One of more work, 0.2 s at worst, is matched elsewhere.
LINE_WORK_MAX = 8_000_000

# Whether a line matches that is too long for here.
MatchElsewhere = Callable[[Pattern, str], bool]


class NumberedLine(NamedTuple):
    """A line without its line feed, numbered from 1."""

    number: int
    text: str


class Slice(NamedTuple):
    """What was found in some lines that follow each other, the last of which is `last_line`."""

    last_line: int
    found: list[NumberedLine]


def lines_of(text: str) -> list[str]:
    """The lines of a file without their line feeds. A line feed ends a line: none begins behind the last."""
    return text.removesuffix("\n").split("\n")


def matching_lines(
    text: str, pattern: Pattern, match_elsewhere: MatchElsewhere, *, after_line: int = 0, lines_max: int
) -> Iterator[Slice]:
    """The lines behind `after_line` that match, in order, slice by slice, up to so many. A line ends at a line feed only.

    No slice at all if the whole text can be told at once to have no match. Where `lines_max` ends the search, the last slice
    ends with the last line that was found.
    """
    slice_chars = SLICE_WORK // pattern.size
    if len(text) <= slice_chars and not pattern.may_match(text):
        return
    room = lines_max
    for first_line, lines in _slices(text, slice_chars):
        last_line = first_line + lines.count("\n")
        if last_line <= after_line:
            continue
        matching = _matching(first_line, lines, pattern, match_elsewhere)
        found = list(islice((line for line in matching if line.number > after_line), room))
        room -= len(found)
        yield Slice(last_line if room else found[-1].number, found)
        if not room:
            return


def neighbours(lines: Sequence[str], number: int, context: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """So many lines before and after a line, as they are shown. `lines` is the text, split at line feeds."""
    ends = len(lines) - (lines[-1:] == [""])
    return (
        tuple(map(shown, lines[max(0, number - 1 - context) : number - 1])),
        tuple(map(shown, lines[number : min(number + context, ends)])),
    )


def shown(line: str, literal: str = "") -> str:
    """Returns a line as answers show it: a very long line is cut, around the literal if it has it, else at its end."""
    stripped = line.removesuffix("\r")
    if len(stripped) <= LINE_CHARS_SHOWN:
        return stripped
    at = max(0, stripped.lower().find(literal.lower())) if literal else 0
    start = max(0, min(at - LINE_CHARS_SHOWN // 2, len(stripped) - LINE_CHARS_SHOWN)) if at else 0
    end = start + LINE_CHARS_SHOWN
    return f"{'…' if start else ''}{stripped[start:end]}{'…' if end < len(stripped) else ''}"


def _matching(
    first_line: int, lines: str, pattern: Pattern, match_elsewhere: MatchElsewhere
) -> Iterator[NumberedLine]:
    if "\n" in lines:
        if pattern.may_match(lines):
            numbered = enumerate(lines.split("\n"), first_line)
            yield from (NumberedLine(number, line) for number, line in numbered if pattern.matches(line))
        return
    too_long = len(lines) * pattern.size > LINE_WORK_MAX
    if match_elsewhere(pattern, lines) if too_long else pattern.matches(lines):
        yield NumberedLine(first_line, lines)


def _slices(text: str, chars: int) -> Iterator[tuple[int, str]]:
    """Whole lines of so many characters at most, or one line that is longer, with the number of the first; without the last
    one's end.
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
