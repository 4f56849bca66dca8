"""Lines that hold the name of a symbol in a form that cannot mean it: a keyword, a variable, a field.

In: a file's text and where it holds the name. Reads patterns of a few languages; a form without a row here may
mean the symbol.
"""

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from prism_contracts.code import SymbolKind

FUNCTION_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR})
# Rows above a use that are searched for the variable.
ROWS_ABOVE_MAX = 400

# An accessor: the keyword, then the name of the property.
_ACCESSOR = re.compile(r"(?:get|set|static|async)[ \t]+(?:(?:get|set|async)[ \t]+)?[*#\[\"'\w$]")
_ACCESSOR_KEYWORDS = frozenset({"get", "set", "static", "async"})
_ECMASCRIPT = frozenset({"javascript", "typescript", "tsx", "vue", "svelte", "astro"})
# Accessors of C# and Swift, without a name.
_BLOCK_ACCESSOR = re.compile(r"(?:get|set)[ \t]*(?:;|\{|=>|\n|\Z)")
_BLOCK_ACCESSORS = frozenset({"csharp", "swift"})

# A longer name of a method: `call!` and `call?` are not `call`.
_MARKS_END_NAMES = frozenset({"ruby", "elixir"})
_LONGER_NAME = re.compile(r"[!?](?![=~])")

_RUST_FUNCTION = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|default|extern(?:\s+\"[^\"]*\")?)\s+)*fn\s"
)
_RUST_USE = re.compile(r"\s*(?:\(|::|!(?!=)|<)")
_RUST_VARIABLE_BEFORE = re.compile(r"\b(?:let|mut|ref)\s+$|(?<!\.)\.\s*$")
_RUST_VARIABLE_BEHIND = re.compile(r"\s*(?::(?!:)|[-+*/|&^%]?=(?![=>]))")

# A key of an object or of a type, or a parameter; `?` before it would be a condition.
_KEY_BEFORE = re.compile(r"[{,;(]\s*(?:readonly\s+)?\Z")
_KEY_BEHIND = re.compile(r"\??\s*:(?!:)")
# `const { open: shut } = await import("./gate")` reads what a module exports.
_UNPACKED = re.compile(r"[^{}]{0,300}\}\s*=(?![=>])")
_OF_BRACKETS = re.compile(r"\)\s*(?:\?\.|!?\.)\s*\Z")
_CAST = re.compile(r"\b(?:as|satisfies)\b")
_LOADED = re.compile(r"\b(?:import|require)\b")
CAST_CHARS_MAX = 1_000

# Decides by the text, where the name begins and where it ends.
Form = Callable[[str, int, int], bool]


def is_other(name: str, language: str, kinds: Collection[SymbolKind]) -> Form | None:
    """Returns a function that says whether a name at some place in a text cannot mean the symbol; None if any may."""
    if name in _ACCESSOR_KEYWORDS and language in _ECMASCRIPT:
        return lambda text, start, _: _ACCESSOR.match(text, start) is not None
    if name in _ACCESSOR_KEYWORDS and language in _BLOCK_ACCESSORS:
        return lambda text, start, _: _BLOCK_ACCESSOR.match(text, start) is not None
    if language in _MARKS_END_NAMES and name[-1:] not in {"!", "?"}:
        return lambda text, _, end: _LONGER_NAME.match(text, end) is not None
    if language in _ECMASCRIPT and kinds and set(kinds) == {SymbolKind.FUNCTION}:
        return _is_key_or_member_of_cast
    if language == "rust" and kinds and FUNCTION_KINDS.issuperset(kinds):
        return _is_rust_variable
    return None


def _is_key_or_member_of_cast(text: str, start: int, end: int) -> bool:
    """Whether a name is a key, a parameter, or a member of a cast: `{ open: 1 }`, `(gate as { open(): void }).open`.

    None of these means a function that is no member.
    """
    before = text[max(0, start - CAST_CHARS_MAX) : start]
    if _KEY_BEHIND.match(text, end) and _KEY_BEFORE.search(before):
        return _UNPACKED.match(text, end) is None
    brackets = _OF_BRACKETS.search(before)
    inside = _inside(before[: brackets.start()]) if brackets else ""
    return _CAST.search(inside) is not None and _LOADED.search(inside) is None


def _inside(text: str) -> str:
    """Returns what a bracket that ends after the text contains; empty if it begins before the text."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth < 0:
            return text[at + 1 :]
    return ""


def _is_rust_variable(text: str, start: int, end: int) -> bool:
    """Whether a name is a variable or a field: not called, not in a path, and bound in the function."""
    first = text.rfind("\n", 0, start) + 1
    before = text[first:start]
    if _RUST_USE.match(text, end) or before.rstrip().endswith("::"):
        return False
    if _RUST_VARIABLE_BEFORE.search(before) or _RUST_VARIABLE_BEHIND.match(text, end):
        return True
    binding = _rust_binding(text[start:end])
    return any(binding.search(row) for row in _rows_of_function(text, end))


def _rows_of_function(text: str, end: int) -> Iterator[str]:
    """Yields the row of a place and those above it, up to the head of the function."""
    behind = text.find("\n", end)
    rows = text[: behind if behind >= 0 else len(text)].rsplit("\n", ROWS_ABOVE_MAX)
    for row in reversed(rows[-ROWS_ABOVE_MAX:]):
        yield row
        if _RUST_FUNCTION.match(row):
            return


@lru_cache(maxsize=256)
def _rust_binding(name: str) -> re.Pattern[str]:
    """Returns what binds a variable: `let`, a parameter, `for`, a closure, a pattern before `=>`."""
    word = rf"\b{re.escape(name)}\b"
    return re.compile(
        rf"\blet\b[^=;]*{word}|\bfor\b[^;]*{word}[^;]*\bin\b|\|[^|]*{word}[^|]*\||{word}\s*:(?!:)|\([^()]*{word}[^()]*\)\s*=>"
    )
