"""Globs over repository paths: `*` stays inside a folder, `**` crosses folders, `{a,b}` and `[abc]` choose."""

import re
from functools import lru_cache

from prism_contracts.errors import ErrorCode, PrismError

GLOB_CHARS_MAX = 1_000
BRACES_MAX = 20
SPECIAL = re.compile(r"[*?\[{]")


@lru_cache(maxsize=1_000)
def compile_glob(glob: str) -> re.Pattern[str]:
    """A pattern that matches whole paths. A glob without a slash matches names in any folder; a plain folder or file
    matches what is in it. Raises INVALID_ARGUMENT.
    """
    cleaned = glob.strip().removeprefix("./").lstrip("/")
    if len(cleaned) > GLOB_CHARS_MAX or cleaned.count("{") > BRACES_MAX:
        raise PrismError(ErrorCode.INVALID_ARGUMENT, "The glob is too long.", "Use a shorter one.")
    if not SPECIAL.search(cleaned):
        return re.compile(f"(?:.*/)?{re.escape(cleaned.rstrip('/'))}(?:/.*)?", re.DOTALL)
    anywhere = "" if "/" in cleaned.rstrip("/") else "(?:.*/)?"
    inside = ".*" if cleaned.endswith("/") else ""
    try:
        return re.compile(anywhere + _translate(cleaned) + inside, re.DOTALL)
    except re.error as error:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"The glob {glob!r} is not valid: {error}.",
            "Close its brackets and braces.",
        ) from error


def literal_prefix(glob: str) -> str:
    """What every matching path starts with, as far as the glob says; empty if it says nothing."""
    cleaned = glob.strip().removeprefix("./").lstrip("/")
    found = SPECIAL.search(cleaned)
    return cleaned[: found.start()] if found and "/" in cleaned.rstrip("/") else ""


def _translate(glob: str) -> str:
    out, position, depth = [], 0, 0
    while position < len(glob):
        rest = glob[position:]
        char = glob[position]
        step = 1
        if rest.startswith("**/"):
            out.append("(?:.*/)?")
            step = 3
        elif rest.startswith("**"):
            out.append(".*")
            step = 2
        elif char == "[" and "]" in rest[2:]:
            step = rest.index("]", 2) + 1
            out.append(_char_class(rest[1 : step - 1]))
        else:
            depth += (char == "{") - (char == "}" and depth > 0)
            out.append(_translate_char(char, depth, closes=char == "}" and rest is not None))
        position += step
    return "".join(out)


def _translate_char(char: str, depth: int, *, closes: bool) -> str:
    simple = {"*": "[^/]*", "?": "[^/]", "{": "(?:"}
    if char in simple:
        return simple[char]
    if closes:
        return ")"
    return "|" if char == "," and depth else re.escape(char)


def _char_class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    body = inside[1:] if negated else inside
    return f"[{'^/' if negated else ''}{body.replace(chr(92), chr(92) * 2).replace('[', chr(92) + '[')}]"
