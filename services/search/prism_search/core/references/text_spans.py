"""Finds the comments and strings of a file: a line that holds a name only there is no line of code.

Whatever is not surely text counts as code: a string with a placeholder such as `{`, and everything in a
language without a row here.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import re2  # type: ignore[import-untyped]

_DOUBLE = r'"(?:\\.|[^"\\\n])*"'
_SINGLE = r"'(?:\\.|[^'\\\n])*'"
_CHARACTER = r"'(?:\\[^\n']{1,8}|[^'\\\n])'"
_TRIPLE = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\''
_SLASHES = r"//[^\n]*|/\*.*?\*/"
_HASH = r"(?:^|[\s;(){}\[\],])#[^\n]*"
_DASHES = r"--[^\n]*"
_BACKTICKS = r"`[^`]*`"

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    f"{_TRIPLE}|#[^\n]*|{_DOUBLE}|{_SINGLE}": ("python",),
    f"{_SLASHES}|{_DOUBLE}|{_CHARACTER}": ("c", "cpp", "csharp", "java", "kotlin", "objc", "rust", "scala", "swift", "zig"),
    f"{_SLASHES}|{_DOUBLE}|{_CHARACTER}|{_BACKTICKS}": ("go",),
    f"{_SLASHES}|{_DOUBLE}|{_SINGLE}|{_BACKTICKS}": ("javascript", "typescript", "tsx", "dart"),
    f"{_SLASHES}|{_HASH}|{_DOUBLE}|{_SINGLE}": ("php",),
    f"{_HASH}|{_DOUBLE}|{_SINGLE}": ("bash", "ruby", "elixir", "perl", "r", "yaml", "toml"),
    f"{_DASHES}|{_DOUBLE}|{_SINGLE}": ("lua", "sql", "haskell"),
}  # fmt: skip
_PATTERNS = {
    language: re2.compile(f"(?ms){pattern}")
    for pattern, languages in _FAMILIES.items()
    for language in languages
}
_PLACEHOLDERS = ("{", "$", "\\(")
_QUOTES = "\"'`"
_TRIPLES = ('"""', "'''")


class TextSpan(NamedTuple):
    """A comment or a string. `end` is the position after it."""

    start: int
    end: int
    is_comment: bool


class TextSpans:
    """The comments and strings of a file."""

    def __init__(self, text: str, language: str) -> None:
        pattern = _PATTERNS.get(language)
        spans = [match.span() for match in pattern.finditer(text)] if pattern else []
        spans = [(start, end) for start, end in spans if _is_text(text[max(0, start - 2) : end], start)]
        self._text = text
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def hold(self, starts: Sequence[int], length: int) -> bool:
        """Whether all pieces of this length at these starts are in comments or strings."""
        return all(self._holds(start, start + length) for start in starts)

    def within(self, start: int, end: int) -> Iterator[TextSpan]:
        """Yields what lies between two positions, cut to them."""
        first = max(0, bisect_right(self._starts, start) - 1)
        for begins, ends in zip(self._starts[first:], self._ends[first:], strict=True):
            if begins >= end:
                return
            if ends > start:
                is_comment = self._text[begins] not in _QUOTES
                yield TextSpan(max(begins, start), min(ends, end), is_comment)

    def _holds(self, start: int, end: int) -> bool:
        at = bisect_right(self._starts, start) - 1
        return at >= 0 and end <= self._ends[at]


def _is_text(token: str, start: int) -> bool:
    """Whether a comment or string, after up to two characters before it, is surely text."""
    before, token = token[: min(2, start)], token[min(2, start) :]
    if token[:1] not in _QUOTES:
        return True
    if token.startswith(_TRIPLES):
        return "f" not in before.lower() or "{" not in token
    return not any(mark in token for mark in _PLACEHOLDERS)
