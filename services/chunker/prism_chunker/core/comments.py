"""Comments and attributes directly above a definition, and their text without markers."""

import re
from collections.abc import Iterable

from prism_chunker.core.lines import TextRows
from prism_chunker.core.parse import Syntax

DOCSTRING_CHARS_MAX = 500

# The start of the parameter list in a documentation comment.
_SECTION_MARKS = ("@", ":param", "\\param")

_MARKER = re.compile(
    r"^\s*(?:/\*+!?|\*+/|\*(?!\*)|//+[!<]?|#+[!|:'>]?|<#|--+(?: ?[|^])?|;+|%+!?|\(\*+|\{-+\|?|\"+|'+|!+<?|=begin|=end|@\w*doc\s+(?:~[sS])?\"*)?\s?"
)
_END = re.compile(r"(?:\*+/|\*+\)|-\}|\|?#>?|\"+)\s*$")
_LAST_OF_END = ("/", ")", "}", "#", ">", '"')
_TAG = re.compile(r"</?[a-zA-Z][^>\n]{0,200}>")
_OPENING = re.compile(r"[a-zA-Z@]{0,3}(?:\"\"\"|'''|\"|')")
_CLOSING = re.compile(r"(?:\"\"\"|'''|\"|')$")
_QUOTES_MAX = 3


class Leads:
    """Comments and attributes on rows of their own, by last row."""

    def __init__(self, syntax: Syntax, lines: TextRows) -> None:
        self._lines = lines
        self._above: dict[int, tuple[int, bool]] = {}
        self._tops: dict[int, int] = {}
        for captures in syntax.matches_with("comment", "attribute"):
            for key in ("comment", "attribute"):
                for node in captures.get(key, ()):
                    self._add(node.start_point, node.end_point, is_comment=key == "comment")

    def _add(self, start: tuple[int, int], end: tuple[int, int], *, is_comment: bool) -> None:
        first, column = start
        last = end[0] - (end[1] == 0 and end[0] > first)
        if column == 0 or not self._lines[first][:column].strip():
            self._above[last] = (first, is_comment)

    def first_row(self, row: int) -> int:
        """Returns the row where the comments and attributes directly above `row` begin, or `row`."""
        asked = row
        while (found := self._above.get(row - 1)) and found[0] < row:
            row = self._tops.get(found[0], found[0])
        self._tops[asked] = row  # so that a long run of comments is scanned once, not once per comment
        return row

    def text_above(self, row: int) -> str:
        """Returns the comment lines directly above `row`, without attributes and markers."""
        blocks: list[str] = []
        while (found := self._above.get(row - 1)) and found[0] < row:
            first, is_comment = found
            if is_comment:
                blocks.append(self._lines.slice(first, row))
            row = first
        return clean_comment("".join(reversed(blocks))) if blocks else ""


def clean_comment(text: str) -> str:
    """Returns the first paragraph of a comment, on one line, without comment markers."""
    return _first_paragraph(_without_end(_MARKER.sub("", row, count=1)) for row in text.split("\n"))


def _without_end(row: str) -> str:
    """Most rows have no marker, and the pattern would be tried at each of their characters."""
    return _END.sub("", row) if row.rstrip().endswith(_LAST_OF_END) else row


def clean_string(text: str) -> str:
    """Returns the first paragraph of a string literal used as documentation."""
    text = text.strip()
    opening = _OPENING.match(text)
    first = opening.end() if opening else 0
    closing = _CLOSING.search(text, max(first, len(text) - _QUOTES_MAX))
    return _first_paragraph(text[first : closing.start() if closing else None].split("\n"))


def _first_paragraph(rows: Iterable[str]) -> str:
    words: list[str] = []
    for row in rows:
        said = (_TAG.sub("", row) if "<" in row else row).split()
        if words and (not said or said[0].startswith(_SECTION_MARKS)):
            break
        words += said
    return " ".join(words)[:DOCSTRING_CHARS_MAX]
