r"""Matches the patterns of `.gitignore` and `.gitattributes` against a path. Pure.

See https://git-scm.com/docs/gitignore#_pattern_format. As in git's own wildmatch, a pattern matches the path
itself, never the paths below it. Libraries for gitignore match those too, which is wrong for `b*` followed by
`!src/` and makes them unusable for attributes. RE2 matches all patterns of a file at once, in linear time for
any pattern.
"""

import re
from collections.abc import Iterable, Iterator

import re2  # type: ignore[import-untyped]

# Between slashes `**` matches any number of folders; elsewhere it is the same as `*`.
_TOKEN = re.compile(
    r"(?P<folders>(?<![^/])\*\*/)|(?P<below>(?<![^/])\*\*\Z)|(?P<stars>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^])?(?P<set>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|\\(?P<escaped>.)|(?P<other>.)",
    re.DOTALL,
)
# With an unclosed bracket or a trailing backslash, git's wildmatch matches nothing.
_UNFINISHED = ("[", "\\")
_NOTHING = r"[^\x00-\x{10FFFF}]"
# Twice the longest path; git itself accepts 2,048 in `.gitattributes`.
_PATTERN_CHARS_MAX = 8_192
# RE2 refuses sets that are too large; a group of this size compiles to less than a tenth of its limit.
_EXPRESSION_CHARS_MAX = 16_384


class GitPatterns:
    """The patterns of one file, matched all at once. An invalid pattern matches nothing."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._by_name = _Sets()
        self._by_path = _Sets()
        for position, pattern in enumerate(patterns):
            # A pattern with a slash matches the whole path, one without matches the last segment.
            chosen = self._by_path if "/" in pattern else self._by_name
            chosen.add(position, _expression(pattern.removeprefix("/")))

    def matching(self, path: str) -> list[int]:
        """Returns the positions of the matching patterns, in order.

        The path is relative to the folder of the file.
        """
        return sorted([*self._by_name.matching(path.rpartition("/")[2]), *self._by_path.matching(path)])


class _Sets:
    """Expressions in groups, each small enough for one RE2 set."""

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
