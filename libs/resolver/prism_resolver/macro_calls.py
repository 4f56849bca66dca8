"""Calls of macros at top level, found in the text: `color_command!(Red, { … });` in Rust, `TABLE(rows)` in C.

In: the lines of a file. Out: the name of the macro and the lines of the call. Such a call is no symbol, though it may
define types and functions.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

LINES_MAX = 400

_RUST = re.compile(r"(?:[A-Za-z_]\w*::)*([A-Za-z_]\w*)!\s*[({\[]")
_C = re.compile(r"([A-Z_][A-Z0-9_]{2,})\s*\(")
STARTS = {"rust": _RUST, "c": _C, "cpp": _C}
_LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|//.*")
_OPEN, _CLOSE = "([{", ")]}"
_NAME = re.compile(r"[A-Za-z_]\w*")


class MacroCall(NamedTuple):
    """A call of a macro, with its first and last line."""

    name: str
    first: int
    last: int
    argument: str = ""  # the first name in it that begins with a capital letter, else the first


def call_at(lines: Sequence[str], first: int, language: str) -> MacroCall | None:
    """Returns the call that begins on a line, 1-based, without indentation; None if none does or it has no end."""
    start = STARTS.get(language)
    found = start.match(lines[first - 1]) if start and 0 < first <= len(lines) else None
    if found is None:
        return None
    depth, texts = 0, []
    for number in range(first, min(first + LINES_MAX, len(lines) + 1)):
        line = lines[number - 1]
        code = _LITERAL.sub("", line[found.end() - 1 :] if number == first else line)
        texts.append(code)
        depth += sum(map(code.count, _OPEN)) - sum(map(code.count, _CLOSE))
        if depth <= 0:
            name = f"{found[1]}!" if language == "rust" else found[1]
            return MacroCall(name, first, number, _argument(" ".join(texts)))
    return None


def call_around(lines: Sequence[str], number: int, language: str) -> MacroCall | None:
    """Returns the call at top level that contains a line; None if none does."""
    if language not in STARTS:
        return None
    for first in range(number, max(0, number - LINES_MAX), -1):
        line = lines[first - 1] if first <= len(lines) else ""
        found = call_at(lines, first, language)
        if found:
            return found if found.last >= number else None
        if first < number and line[:1] not in {"", " ", "\t", *_CLOSE, *_OPEN}:
            return None
    return None


def _argument(text: str) -> str:
    names = _NAME.findall(text)
    return next((name for name in names if name[0].isupper()), names[0] if names else "")
