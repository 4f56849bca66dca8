"""Finds the comments and strings of a file: a line that holds a name only there is no line of code.

Whatever is not surely text counts as code: a string with a placeholder such as `{`, and everything in a
language without a row here.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

# Each begins with a character of its own, so that the engine skips to it. What has no end runs to the end of its
# line, or of the file, and is no text: otherwise the engine would search for that end again and again.
_DOUBLE = r'"(?:\\.|[^"\\\n])*"?'
_SINGLE = r"'(?:\\.|[^'\\\n])*'?"
_CHARACTER = r"'(?:\\[^\n']{1,8}|[^'\\\n])'"
_TRIPLE = r'"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'(?:\\.|[^\\])*?(?:\'\'\'|\Z)'
_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_HASH = r"#(?<![^\s;(){}\[\],]#)[^\n]*"
_DASHES = r"--[^\n]*"
_BACKTICKS = r"`[^`]*`?"
_WHOLE = re.compile(r"""(?s)(["']{3}|["'])(?:\\.|(?!\1)[^\\])*\1|`[^`]*`|/\*.*\*/|(?!["'`]|/\*).*""")

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
    language: re.compile(f"(?ms){pattern}")
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

    def __init__(self, text: str, language: str, end: int | None = None) -> None:
        """Reads the text up to `end`, or all of it, at some 10 ms per million characters."""
        pattern = _PATTERNS.get(language)
        end = len(text) if end is None else end
        spans = [match.span() for match in pattern.finditer(text, 0, end)] if pattern else []
        if pattern and spans and spans[-1][1] == end and (whole := pattern.match(text, spans[-1][0])):
            spans[-1] = whole.span()
        self._text = text
        self._spans = spans
        self._known: dict[int, bool] = {}  # by start, whether a span is text: many lines may share a long one

    def hold(self, starts: Sequence[int], length: int) -> bool:
        """Whether all pieces of this length at these starts are in comments or strings."""
        return all(self._holds(start, start + length) for start in starts)

    def within(self, start: int, end: int) -> Iterator[TextSpan]:
        """Yields what lies between two positions, cut to them."""
        for begins, ends in self._spans[max(0, self._last_before(start)) :]:
            if begins >= end:
                return
            if ends > start and self._is_text(begins, ends):
                is_comment = self._text[begins] not in _QUOTES
                yield TextSpan(max(begins, start), min(ends, end), is_comment)

    def _holds(self, start: int, end: int) -> bool:
        at = self._last_before(start)
        return at >= 0 and end <= self._spans[at][1] and self._is_text(*self._spans[at])

    def _last_before(self, start: int) -> int:
        return bisect_right(self._spans, start, key=itemgetter(0)) - 1

    def _is_text(self, start: int, end: int) -> bool:
        if start not in self._known:
            self._known[start] = _is_text(self._text[max(0, start - 2) : end], start)
        return self._known[start]


def _is_text(token: str, start: int) -> bool:
    """Whether a comment or string, after up to two characters before it, is surely text."""
    before, token = token[: min(2, start)], token[min(2, start) :]
    if not _WHOLE.fullmatch(token):
        return False
    if token[:1] not in _QUOTES:
        return True
    if token.startswith(_TRIPLES):
        return "f" not in before.lower() or "{" not in token
    return not any(mark in token for mark in _PLACEHOLDERS)
