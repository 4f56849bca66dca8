"""Chooses the lines of a document to quote: its head, or sections on a subject; and lists its headings."""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from prism_contracts.code import Symbol, SymbolKind

HEADINGS_MAX = 20
UPPER_LEVELS = 2
HEADING_CHARS_MAX = 100
# Headings of sections about work on the code, as opposed to conduct, licences and bug reports.
ABOUT_WORK = re.compile(
    r"\b(?:styl|format|lint|convention|guideline|test|commit|pull request|branch|chang|build|develop|set.?up|typ|doc|coding|code(?! of)"
    r"|naming|review|hack)",
    re.IGNORECASE,
)
# Words of headings about how changes are sent in, which no edit follows.
SENDING = r"\b(?:pull request|commit|branch|issue|report|screenshot|pictures?|code of|review)"
CODE = r"\b(?:styl|format|lint|convention|naming|typing|types\b|coding|code\b)"


def _about(words: str) -> re.Pattern[str]:
    return re.compile(rf"^(?!.*{SENDING}).*{words}", re.IGNORECASE)


ABOUT_CODE, ABOUT_TESTS = _about(CODE), _about(rf"(?:{CODE}|\btest)")
ABOUT_PROSE = _about(r"\b(?:doc|writing|prose)")


class LineRange(NamedTuple):
    """Lines of a text, 1-based and inclusive."""

    start: int
    end: int


def headings(symbols: Sequence[Symbol]) -> tuple[str, ...]:
    """Returns the first headings, such as `12 ## Style`; only the upper levels if there are many."""
    sections = [(_level(symbol, symbols), symbol) for symbol in symbols if symbol.kind is SymbolKind.SECTION]
    if len(sections) > HEADINGS_MAX:
        sections = [(level, section) for level, section in sections if level <= UPPER_LEVELS]
    return tuple(
        f"{section.name_line} {'#' * level} {section.name[:HEADING_CHARS_MAX]}"
        for level, section in sections[:HEADINGS_MAX]
    )


def head(lines: Sequence[str], chars_max: int, within: LineRange | None = None) -> LineRange:
    """Returns as many of the first lines as fit, at least one, without trailing empty lines."""
    start, end = within or LineRange(1, len(lines))
    fitting = sum(used <= chars_max for used in accumulate(len(line) + 1 for line in lines[start - 1 : end]))
    end = start + max(fitting, 1) - 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return LineRange(start, end)


def sections_about(symbols: Sequence[Symbol], wanted: re.Pattern[str]) -> list[LineRange]:
    """Returns the outermost sections whose heading matches. The title of a document is not a section."""
    sections = [symbol for symbol in symbols if symbol.kind is SymbolKind.SECTION]
    if sum(section.parent < 0 for section in sections) == 1:
        sections = [section for section in sections if section.parent >= 0]
    found: list[LineRange] = []
    for section in sections:
        is_inside = bool(found) and section.start_line <= found[-1].end
        if not is_inside and wanted.search(section.name):
            found.append(LineRange(section.start_line, section.end_line))
    return found


def about_edits(*, is_test: bool, is_prose: bool) -> re.Pattern[str]:
    """Returns the headings of sections that an edit of such a file follows."""
    if is_prose:
        return ABOUT_PROSE
    return ABOUT_TESTS if is_test else ABOUT_CODE


def opening(lines: Sequence[str], symbols: Sequence[Symbol]) -> LineRange:
    """Returns the title and everything up to the first heading that follows text."""
    starts = [s.start_line for s in symbols if s.kind is SymbolKind.SECTION and s.start_line > 1]
    for start in starts:
        if any(line.strip() for line in lines[1 : start - 1]):
            return LineRange(1, start - 1)
    return LineRange(1, len(lines))


def _level(section: Symbol, symbols: Sequence[Symbol]) -> int:
    level = 1
    while section.parent >= 0:
        section = symbols[section.parent]
        level += 1
    return level
