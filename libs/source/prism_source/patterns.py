r"""The patterns of `.gitignore` and `.gitattributes`, compared with one path. Pure.

https://git-scm.com/docs/gitignore#_pattern_format, as git's own wildmatch does it: a pattern is compared with the
path itself, never with what lies below it. Libraries for gitignore compare with everything below too, which is
wrong for `b*` followed by `!src/`, and cannot be used for attributes at all. RE2 compares with all patterns of a
file at once, in linear time whatever the pattern.
"""

import re
from collections.abc import Iterable, Iterator

import re2  # type: ignore[import-untyped]

# Between slashes `**` stands for any number of folders, elsewhere for `*`.
_TOKEN = re.compile(
    r"(?P<folders>(?<![^/])\*\*/)|(?P<below>(?<![^/])\*\*\Z)|(?P<stars>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^])?(?P<set>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|\\(?P<escaped>.)|(?P<other>.)",
    re.DOTALL,
)
# A bracket that is not closed, a backslash at the end: git's wildmatch then matches nothing.
_UNFINISHED = ("[", "\\")
_NOTHING = r"[^\x00-\x{10FFFF}]"
# Twice the longest path; git itself takes 2,048 in `.gitattributes`.
_PATTERN_CHARS_MAX = 8_192
# RE2 refuses sets that are too large; a group of this size compiles to less than a tenth of what it allows.
_EXPRESSION_CHARS_MAX = 16_384


class Patterns:
    """The patterns of one file, all compared at once. A pattern that makes no sense matches nothing."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._by_name = _Sets()
        self._by_path = _Sets()
        for position, pattern in enumerate(patterns):
            # Without a slash a pattern is compared with the last segment, with one with the whole path.
            chosen = self._by_path if "/" in pattern else self._by_name
            chosen.add(position, _expression(pattern.removeprefix("/")))

    def matching(self, path: str) -> list[int]:
        """The positions of the patterns that match a path (relative to the folder of their file), in order."""
        return sorted([*self._by_name.matching(path.rpartition("/")[2]), *self._by_path.matching(path)])


class _Sets:
    """Expressions, in groups that are small enough for one RE2 set each."""

    def __init__(self) -> None:
        self._expressions: list[tuple[int, str]] = []
        self._sets: list[tuple[list[int], re2.Set]] = []

    def add(self, position: int, expression: str) -> None:
        if len(expression) <= _EXPRESSION_CHARS_MAX and _is_sound(expression):
            self._expressions.append((position, expression))

    def matching(self, text: str) -> Iterator[int]:
        if self._expressions:
            self._compile()
        for positions, group in self._sets:
            for index in group.Match(text) or ():
                yield positions[index]

    def _compile(self) -> None:
        chars = 0
        for position, expression in self._expressions:
            if not self._sets or chars + len(expression) > _EXPRESSION_CHARS_MAX:
                self._sets.append(([], re2.Set.FullMatchSet(_options())))
                chars = 0
            positions, group = self._sets[-1]
            group.Add(expression)
            positions.append(position)
            chars += len(expression)
        for _, group in self._sets:
            group.Compile()
        self._expressions = []


def _is_sound(expression: str) -> bool:
    try:
        re2.compile(expression, _options())
    except re2.error:
        return False
    return True


def _expression(pattern: str) -> str:
    if len(pattern) > _PATTERN_CHARS_MAX:
        return _NOTHING
    parts: list[str] = []
    for token in _TOKEN.finditer(pattern):
        if token["other"] in _UNFINISHED:
            return _NOTHING
        parts.append(_translate(token))
    return "".join(parts)


def _translate(token: re.Match[str]) -> str:
    match token.lastgroup:
        case "folders":
            return "(?:.*/)?"
        case "below":
            return ".*"
        case "stars":
            return "[^/]*"
        case "one":
            return "[^/]"
        case "set" | "not":
            return f"[^/{token['set']}]" if token["not"] else f"[{token['set']}]"
    return re.escape(token["escaped"] or token["other"])


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    return options
