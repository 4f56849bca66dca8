r"""The patterns of `.gitignore` and `.gitattributes`, compared with one path. Pure.

https://git-scm.com/docs/gitignore#_pattern_format, as git's own wildmatch does it: a pattern is compared with the
path itself, never with what lies below it. Libraries for gitignore compare with everything below too, which is
wrong for `b*` followed by `!src/`, and cannot be used for attributes at all. RE2 compares with all patterns of a
file at once, in linear time whatever the pattern.
"""

import re
from collections.abc import Iterable

import re2  # type: ignore[import-untyped]

# Between slashes `**` stands for any number of folders, elsewhere for `*`.
_TOKEN = re.compile(
    r"(?P<folders>(?<![^/])\*\*/)|(?P<below>(?<![^/])\*\*\Z)|(?P<stars>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^])?(?P<set>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|\\(?P<escaped>.)|(?P<other>.)",
    re.DOTALL,
)
_NOTHING = r"[^\x00-\x{10FFFF}]"


class Patterns:
    """The patterns of one file, all compared at once. A pattern that makes no sense matches nothing."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._by_name = _Set()
        self._by_path = _Set()
        for position, pattern in enumerate(patterns):
            # Without a slash a pattern is compared with the last segment, with one with the whole path.
            chosen = self._by_path if "/" in pattern else self._by_name
            chosen.add(position, _expression(pattern.removeprefix("/")))

    def matching(self, path: str) -> list[int]:
        """The positions of the patterns that match a path (relative to the folder of their file), in order."""
        return sorted(self._by_name.matching(path.rpartition("/")[2]) + self._by_path.matching(path))


class _Set:
    def __init__(self) -> None:
        self._positions: list[int] = []
        self._set: re2.Set = re2.Set.FullMatchSet(_options())
        self._is_compiled = False

    def add(self, position: int, expression: str) -> None:
        try:
            re2.compile(expression, _options())
        except re2.error:
            return
        self._set.Add(expression)
        self._positions.append(position)

    def matching(self, text: str) -> list[int]:
        if not self._positions:
            return []
        if not self._is_compiled:
            self._set.Compile()
            self._is_compiled = True
        return [self._positions[index] for index in self._set.Match(text) or ()]


def _expression(pattern: str) -> str:
    return "".join(map(_translate, _TOKEN.finditer(pattern)))


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
    character = token["escaped"] or token["other"]
    # A bracket that is not closed, or a backslash at the end: git's wildmatch matches nothing then.
    return _NOTHING if token["other"] in ("[", "\\") else re.escape(character)


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    return options
