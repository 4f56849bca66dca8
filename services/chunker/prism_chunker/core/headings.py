"""The readers of marked-up text: a document is cut at its headings, and each heading is a symbol of kind
SECTION.

The qualified name of a section is the path of headings to it. Fenced code is never cut at a blank row.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from prism_chunker.core.languages.table import Language
from prism_chunker.core.lines import TextRows
from prism_chunker.core.model import Budget, Cut, ParsedFile
from prism_contracts.code import Symbol, SymbolKind

PARAGRAPH_DEPTH = 10
TITLE_CHARS_MAX = 200

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?\n?$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*\r?\n?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RST_LINE = re.compile(r"([=\-~^\"'`#*+:._])\1{2,}[ \t]*\r?\n?$")
_ASCIIDOC = re.compile(r"(={1,6})[ \t]+(\S.*?)[ \t]*\r?\n?$")
_ASCIIDOC_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|```)[ \t]*\r?\n?$")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


class Heading(NamedTuple):
    """A heading: its first row, its level from 1, its title, and the first row of its text."""

    row: int
    level: int
    title: str
    overline_rows: int = 0


def read_markdown(_: Language, lines: TextRows, budget: Budget) -> ParsedFile:
    """Returns the outline of Markdown, with ATX and underlined headings."""
    fenced = _fenced(lines, _FENCE)
    return _outline(lines, list(_markdown_headings(lines, fenced)), fenced, budget)


def read_rst(_: Language, lines: TextRows, budget: Budget) -> ParsedFile:
    """Returns the outline of reStructuredText: levels are numbered in the order their underlines first
    appear.
    """
    return _outline(lines, list(_rst_headings(lines)), set(), budget)


def read_asciidoc(_: Language, lines: TextRows, budget: Budget) -> ParsedFile:
    """Returns the outline of AsciiDoc, with `==` headings."""
    fenced = _fenced(lines, _ASCIIDOC_FENCE)
    headings = [
        Heading(row, len(found.group(1)), found.group(2))
        for row in range(lines.count)
        if row not in fenced and (found := _ASCIIDOC.match(lines[row]))
    ]
    return _outline(lines, headings, fenced, budget)


def _fenced(lines: TextRows, fence: re.Pattern[str]) -> set[int]:
    """Returns the rows of fenced blocks, including their fences. An open fence reaches to the end."""
    rows: set[int] = set()
    mark = ""
    for row in range(lines.count):
        found = fence.match(lines[row])
        if mark:
            rows.add(row)
            if found and found.group(1).startswith(mark):
                mark = ""
        elif found:
            rows.add(row)
            mark = found.group(1)
    return rows


def _markdown_headings(lines: TextRows, fenced: set[int]) -> Iterator[Heading]:
    for row in range(_after_front_matter(lines), lines.count):
        if row in fenced:
            continue
        text = lines[row]
        if found := _ATX.match(text):
            yield Heading(row, len(found.group(1)), found.group(2))
        elif (found := _SETEXT.match(text)) and _is_title(lines, row - 1, fenced):
            yield Heading(row - 1, 1 if found.group(1)[0] == "=" else 2, lines[row - 1].strip())


def _after_front_matter(lines: TextRows) -> int:
    if lines.count and lines[0].rstrip() == "---":
        for row in range(1, min(lines.count, 200)):
            if lines[row].rstrip() in {"---", "..."}:
                return row + 1
    return 0


def _is_title(lines: TextRows, row: int, fenced: set[int]) -> bool:
    """Whether an underline below `row` makes it a heading: one plain row after a blank one."""
    if row < 0 or row in fenced or lines.is_blank(row) or lines[row].lstrip()[0] in "#>|-*+=":
        return False
    return row == 0 or lines.is_blank(row - 1)


def _rst_headings(lines: TextRows) -> Iterator[Heading]:
    levels: dict[tuple[str, bool], int] = {}
    for row in range(lines.count - 1):
        title, underline = lines[row].rstrip(), lines[row + 1].rstrip()
        if not title or not _RST_LINE.match(underline) or _RST_LINE.match(title) or title[0].isspace():
            continue
        if len(underline) < min(len(title), 3) or (row and not _opens_rst_title(lines, row)):
            continue
        over = row > 0 and lines[row - 1].rstrip() == underline
        yield Heading(
            row - over, levels.setdefault((underline[0], over), len(levels) + 1), title.strip(), int(over)
        )


def _opens_rst_title(lines: TextRows, row: int) -> bool:
    return lines.is_blank(row - 1) or lines[row - 1].rstrip() == lines[row + 1].rstrip()


def _outline(lines: TextRows, headings: list[Heading], fenced: set[int], budget: Budget) -> ParsedFile:
    headings = headings[: budget.symbols_max]
    return ParsedFile("ok", _cuts(lines, headings, fenced), _sections(lines, headings))


def _cuts(lines: TextRows, headings: list[Heading], fenced: set[int]) -> list[Cut]:
    depths = {heading.row: heading.level for heading in headings}
    for row in range(1, lines.count):
        if row not in depths and lines.is_blank(row - 1) and (row not in fenced or row - 1 not in fenced):
            depths[row] = PARAGRAPH_DEPTH
    return [Cut(row, depth) for row, depth in sorted(depths.items())]


def _sections(lines: TextRows, headings: list[Heading]) -> tuple[Symbol, ...]:
    symbols: list[Symbol] = []
    path: list[int] = []  # positions of the open headings
    for index, heading in enumerate(headings):
        while path and headings[path[-1]].level >= heading.level:
            path.pop()
        parent = path[-1] if path else -1
        title = _plain(heading.title)
        symbols.append(
            Symbol(
                name=title,
                qualified_name=f"{symbols[parent].qualified_name}.{title}" if parent >= 0 else title,
                kind=SymbolKind.SECTION,
                start_line=heading.row + 1,
                end_line=_end_row(lines, headings, index),
                name_line=heading.row + heading.overline_rows + 1,
                signature=title,
                parent=parent,
            )
        )
        path.append(index)
    return tuple(symbols)


def _end_row(lines: TextRows, headings: list[Heading], index: int) -> int:
    """Returns the row after the section, which is its last line counted from 1."""
    level = headings[index].level
    after = (heading.row for heading in headings[index + 1 :] if heading.level <= level)
    return next(after, lines.count)


def _plain(title: str) -> str:
    return _LINK.sub(r"\1", title).replace("`", "").replace("**", "").strip()[:TITLE_CHARS_MAX] or "#"
