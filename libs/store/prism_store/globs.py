"""Globs over repository paths: `*` matches within a folder, `**` across folders; also `{a,b}`, `[abc]` and `!glob`."""

import re
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import GLOB_CHARS_MAX

BRACES_MAX = 20
PROGRAM_BYTES_MAX = 8 << 20
SPECIAL = re.compile(r"[*?\[{]")
SLASH = ord("/")
NOTHING = r"[^\x{0}-\x{10FFFF}]"


class _Negated:
    """Matches the paths that a pattern does not match."""

    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern

    def fullmatch(self, path: str) -> bool | None:
        """Returns True for a match, else None."""
        return None if self._pattern.fullmatch(path) else True


@lru_cache(maxsize=1_000)
def compile_glob(glob: str) -> Any:
    """Returns a pattern for `fullmatch` on paths. Raises INVALID_ARGUMENT.

    A glob without a slash matches names in any folder. A plain path matches a file, or everything in a
    folder. An empty glob, `.` and `/` match everything. `!` before a glob negates it.
    """
    bare = glob.strip()
    return _Negated(_pattern(bare[1:])) if bare.startswith("!") else _pattern(glob)


def literal_prefix(glob: str) -> str:
    """Returns the known common prefix of all matching paths; may be empty."""
    cleaned = _cleaned(glob)
    found = None if cleaned.startswith("!") else SPECIAL.search(cleaned)
    return cleaned[: found.start()] if found and "/" in cleaned.rstrip("/") else ""


def _pattern(glob: str) -> Any:
    cleaned = _cleaned(glob)
    if len(cleaned) > GLOB_CHARS_MAX or cleaned.count("{") > BRACES_MAX:
        raise PrismError(ErrorCode.INVALID_ARGUMENT, "The glob is too long.", "Use a shorter one.")
    if not cleaned:
        return _compile(glob, ".*")
    if not SPECIAL.search(cleaned):
        return _compile(glob, f"(?:.*/)?{re2.escape(cleaned.rstrip('/'))}(?:/.*)?")
    anywhere = "" if "/" in cleaned.rstrip("/") else "(?:.*/)?"
    inside = ".*" if cleaned.endswith("/") else ""
    return _compile(glob, anywhere + _translate(cleaned) + inside)


def _cleaned(glob: str) -> str:
    cleaned = glob.strip().removeprefix("./").lstrip("/")
    return "" if cleaned == "." else cleaned


def _compile(glob: str, source: str) -> Any:
    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    options.max_mem = PROGRAM_BYTES_MAX
    try:
        # RE2 takes linear time; `re` would take years on a glob with many stars.
        return re2.compile(source, options)
    except re2.error as error:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT, f"The glob {glob!r} is not valid.", "Close its brackets and braces."
        ) from error


def _translate(glob: str) -> str:
    out, position, depth = [], 0, 0
    while position < len(glob):
        rest = glob[position:]
        char = glob[position]
        step = 1
        if rest.startswith("**/") and (position == 0 or glob[position - 1] in "/{,"):
            out.append("(?:.*/)?")
            step = 3
        elif rest.startswith("**"):
            out.append(".*")
            step = 2
        elif char == "[" and "]" in rest[_first_of_class(rest) + 1 :]:
            step = rest.index("]", _first_of_class(rest) + 1) + 1
            out.append(_char_class(rest[1 : step - 1]))
        else:
            depth += (char == "{") - (char == "}" and depth > 0)
            out.append(_translate_char(char, depth))
        position += step
    return "".join(out)


def _translate_char(char: str, depth: int) -> str:
    simple = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}
    if char in simple:
        return simple[char]
    return "|" if char == "," and depth else re2.escape(char)


def _first_of_class(rest: str) -> int:
    """Returns the position after `[`, `[!` or `[^`, where the first character of a class may be a `]`."""
    return 2 if rest[1:2] in ("!", "^") else 1


def _char_class(inside: str) -> str:
    """Translates a class, which never matches a slash."""
    start = _first_of_class("[" + inside) - 1
    ranges = "".join(_ranges(inside[start:]))
    if start:
        return f"[^/{ranges}]"
    return f"[{ranges}]" if ranges else NOTHING


def _ranges(body: str) -> list[str]:
    found, position = [], 0
    while position < len(body):
        is_range = body[position + 1 : position + 2] == "-" and position + 2 < len(body)
        first, last = body[position], body[position + 2 if is_range else position]
        position += 3 if is_range else 1
        found += _without_slash(ord(first), ord(last))
    return [f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in found]


def _without_slash(first: int, last: int) -> list[tuple[int, int]]:
    if not first <= SLASH <= last:
        return [(first, last)]
    return [(a, b) for a, b in ((first, SLASH - 1), (SLASH + 1, last)) if a <= b]
