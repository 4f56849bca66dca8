"""Finds the comments and strings of a file: a line that holds a name only there is no line of code.

Whatever is not surely text counts as code: what a placeholder such as `{` may hold, and everything in a language
without a row here.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
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
_BRACES = re.compile("[{}]")
# A variable, a member of one, or a command, that the next character may continue.
_VARIABLE = re.compile(r"\$[\w>.:\[\]'-]*$|\$\(|\\\(")
# Strings with placeholders up to this length are read up to the name.
TEMPLATE_CHARS_MAX = 5_000


class _Content(Enum):
    """What a comment or string holds."""

    TEXT = 1
    TEMPLATE = 2  # text with placeholders
    CODE = 3  # or what may be code


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
        self._known: dict[int, _Content] = {}  # by start: many lines may share a long span

    def hold(self, starts: Sequence[int], length: int) -> bool:
        """Whether all pieces of this length at these starts are in comments or strings."""
        return all(self._holds(start, start + length) for start in starts)

    def within(self, start: int, end: int) -> Iterator[TextSpan]:
        """Yields what lies between two positions, cut to them."""
        for begins, ends in self._spans[max(0, self._last_before(start)) :]:
            if begins >= end:
                return
            if ends > start and self._content(begins, ends) is _Content.TEXT:
                is_comment = self._text[begins] not in _QUOTES
                yield TextSpan(max(begins, start), min(ends, end), is_comment)

    def around(self, start: int) -> TextSpan | None:
        """Returns the comment or string that contains a position."""
        at = self._last_before(start)
        if at < 0 or start >= self._spans[at][1]:
            return None
        begins, ends = self._spans[at]
        return TextSpan(begins, ends, self._text[begins] not in _QUOTES)

    def _holds(self, start: int, end: int) -> bool:
        at = self._last_before(start)
        if at < 0 or end > self._spans[at][1]:
            return False
        content = self._content(*self._spans[at])
        if content is _Content.TEMPLATE:
            return not _may_be_in_placeholder(self._text[self._spans[at][0] : start])
        return content is _Content.TEXT

    def _last_before(self, start: int) -> int:
        return bisect_right(self._spans, start, key=itemgetter(0)) - 1

    def _content(self, start: int, end: int) -> _Content:
        if start not in self._known:
            self._known[start] = _read(self._text[max(0, start - 2) : end], start)
        return self._known[start]


def _read(token: str, start: int) -> _Content:
    """Returns what a comment or string holds. `token` includes up to two characters before it."""
    before, token = token[: min(2, start)], token[min(2, start) :]
    if not _WHOLE.fullmatch(token):
        return _Content.CODE
    if token[:1] not in _QUOTES:
        return _Content.TEXT
    is_triple = token.startswith(_TRIPLES)
    marks = _PLACEHOLDERS if not is_triple else _PLACEHOLDERS[:1] if "f" in before.lower() else ()
    if not any(mark in token for mark in marks):
        return _Content.TEXT
    # A quote in a regular expression may seem to begin a string of several lines of code.
    is_sure = len(token) <= TEMPLATE_CHARS_MAX and (is_triple or "\n" not in token)
    return _Content.TEMPLATE if is_sure else _Content.CODE


def _may_be_in_placeholder(before: str) -> bool:
    """Whether a placeholder may be open after the beginning of a string."""
    depth = 0
    for brace in _BRACES.findall(before):
        depth = max(0, depth + (1 if brace == "{" else -1))
    return depth > 0 or _VARIABLE.search(before) is not None
