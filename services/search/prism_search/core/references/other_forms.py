"""Lines that hold the name of a symbol in a form that cannot mean it: a keyword, a variable, a field.

In: a file's text and where it holds the name. Out: what the name is there. Reads patterns of a few languages; a form
without a row here may mean the symbol.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
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
# The row above a member that begins its row: a whole member, without a condition.
_MEMBER_ABOVE = re.compile(r"(?!.*\?(?![.:?]))(?:.*[;,}\])>\w\"'])\Z")
# The variable before a dot.
_OWNER = re.compile(r"(?<![.\w$])([A-Za-z_$][\w$]*)\s*\??\.\s*\Z")
_OF_BRACKETS = re.compile(r"\)\s*(?:\?\.|!?\.)\s*\Z")
_CAST = re.compile(r"\b(?:as|satisfies)\b")
_LOADED = re.compile(r"\b(?:import|require)\b")
CAST_CHARS_MAX = 1_000

# What a name is.
KEYWORD, LONGER = "a keyword", "a longer name"
KEY, MEMBER = "a key or parameter", "a member of another object"
VARIABLE, NO_METHOD = "a variable or field", "not a method"

# A member is named behind a dot.
_DOTTED = re.compile(r"\.\s*\Z")
# A parameter of Python or a named argument; a header of a block, which `_python_scope` reads upwards.
_NAMED_BEFORE = re.compile(r"[(,]\s*\Z")
_NAMED_BEHIND = re.compile(r"\s*=(?!=)")
_PYTHON_HEAD = re.compile(r"\s*(?:async\s+)?def\b.*[(,*]\s*\Z")
_PYTHON_BLOCK = re.compile(
    r"(\s*)(?:async\s+)?(def|class|if|elif|else|for|while|with|try|except|finally|match|case)\b"
)
PYTHON_ROWS_MAX = 2_000
# How far before a name a dot, a bracket or `::` is looked for.
BEFORE_CHARS_MAX = 200
# In Java a method is called, or given as `Depot::open`; `@Rate(size = 2)` names an element, which is a method.
_JAVA_METHOD_BEFORE = re.compile(r"::\s*\Z|^\s*import\s+static\s[^\n]*\Z", re.MULTILINE)
_CALL_BEHIND = re.compile(r"\s*\(")

# Takes a text and the start and end of a name in it. Returns what the name is there, or an empty string if it may mean
# the symbol.
Form = Callable[[str, int, int], str]


def other_form(name: str, language: str, kinds: Collection[SymbolKind]) -> Form | None:
    """Returns a function that finds where a name cannot mean the symbol, or None if it may everywhere."""
    of_name = _form_of_name(name, language)
    return of_name or (_form_of_kinds(language, frozenset(kinds)) if kinds else None)


def _form_of_name(name: str, language: str) -> Form | None:
    if name in _ACCESSOR_KEYWORDS and language in _ECMASCRIPT:
        return lambda text, start, _: KEYWORD if _ACCESSOR.match(text, start) else ""
    if name in _ACCESSOR_KEYWORDS and language in _BLOCK_ACCESSORS:
        return lambda text, start, _: KEYWORD if _BLOCK_ACCESSOR.match(text, start) else ""
    if language in _MARKS_END_NAMES and name[-1:] not in {"!", "?"}:
        return lambda text, _, end: LONGER if _LONGER_NAME.match(text, end) else ""
    return None


def _form_of_kinds(language: str, kinds: frozenset[SymbolKind]) -> Form | None:
    if language in _ECMASCRIPT and kinds == {SymbolKind.FUNCTION}:
        return _beside_function
    if language == "rust" and kinds <= FUNCTION_KINDS:
        return lambda text, start, end: VARIABLE if _is_rust_variable(text, start, end) else ""
    if kinds == {SymbolKind.METHOD} and language in _BESIDE_METHOD:
        is_variable = _BESIDE_METHOD[language]
        return lambda text, start, end: NO_METHOD if is_variable(text, start, end) else ""
    return None


def _beside_function(text: str, start: int, end: int) -> str:
    """Returns KEY or MEMBER where a name in JavaScript cannot mean a function outside of objects.

    `{ open: 1 }`, `(gate as { open(): void }).open`, `gate.open` of `const gate = { open: mock() }`.
    """
    before = text[max(0, start - CAST_CHARS_MAX) : start]
    if _KEY_BEHIND.match(text, end) and (_KEY_BEFORE.search(before) or _begins_member(before)):
        return "" if _UNPACKED.match(text, end) else KEY
    brackets = _OF_BRACKETS.search(before)
    inside = _inside(before[: brackets.start()]) if brackets else ""
    if _CAST.search(inside) and not _LOADED.search(inside):
        return MEMBER
    owner = _OWNER.search(before)
    return MEMBER if owner and _has_own(text, owner[1], text[start:end]) else ""


def _begins_member(before: str) -> bool:
    """Whether a row begins a member of a type: the row of code above it ends one, or opens the type."""
    rows = [row.strip() for row in before.split("\n")]
    if rows.pop() or not rows:
        return False
    above = next((row for row in reversed(rows) if row and not row.startswith(("//", "/*", "*"))), "")
    return above.endswith("{") or (_MEMBER_ABOVE.match(above) is not None)


@lru_cache(maxsize=256)
def _has_own(text: str, owner: str, name: str) -> bool:
    """Whether `owner` is declared once in a text, as an object literal that defines the member itself."""
    declared = re.findall(rf"\b(?:const|let|var|function|class)\s+{re.escape(owner)}\b", text)
    literal = re.search(rf"\bconst\s+{re.escape(owner)}\s*(?::[^=\n]*)?=\s*\{{", text)
    is_bound = re.search(rf"\b{re.escape(owner)}\s*(?:=>|\)\s*(?:=>|\{{)|:(?!:))", text)
    if len(declared) != 1 or literal is None or is_bound:
        return False
    own = re.compile(
        rf"[{{,]\s*(?:async\s+)?{re.escape(name)}\s*(?:\(|:\s*(?!\s)(?![^,}}\n]*\b{re.escape(name)}\b))"
    )
    return own.search(text, literal.end() - 1, literal.end() + CAST_CHARS_MAX) is not None


def _is_named_argument(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - BEFORE_CHARS_MAX) : start]
    return _NAMED_BEFORE.search(before) is not None and _NAMED_BEHIND.match(text, end) is not None


def _is_python_variable(text: str, start: int, end: int) -> bool:
    """Whether a name without a dot is no method: only the body of a class has its methods under their own names."""
    first = text.rfind("\n", 0, start) + 1
    if _DOTTED.search(text[first:start]) or _python_gives(text, text[start:end]):
        return False
    if _is_named_argument(text, start, end):
        return True
    if _PYTHON_HEAD.match(text[first:start]):  # a parameter
        return True
    return _python_scope(text, first) != "class"


@lru_cache(maxsize=256)
def _python_gives(text: str, name: str) -> bool:
    """Whether a file imports a name, or assigns a member to a variable of its name: `seed = _random.seed`."""
    word = rf"\b{re.escape(name)}\b"
    return (
        re.search(rf"{word}\s*=\s*[\w.()]+\.{word}|\bimport\b[^\n(]*{word}|\bimport\s*\([^)]*{word}", text)
        is not None
    )


def _python_scope(text: str, first: int) -> str:
    """Returns `def` or `class`, whichever is the nearest around the row that begins at a place; empty at top level."""
    behind = text.find("\n", first)
    *above, row = text[: behind if behind >= 0 else len(text)].rsplit("\n", PYTHON_ROWS_MAX)
    indent = len(row) - len(row.lstrip())
    for one in reversed(above):
        header = _PYTHON_BLOCK.match(one)
        if header and len(header[1]) < indent:
            indent = len(header[1])
            if header[2] in {"def", "class"}:
                return header[2]
    return "class" if indent and len(above) >= PYTHON_ROWS_MAX else ""


def _is_java_variable(text: str, start: int, end: int) -> bool:
    """Whether a name is neither called nor a reference to a method, nor an element of an annotation."""
    first = text.rfind("\n", 0, start) + 1
    before = text[max(first, start - BEFORE_CHARS_MAX) : start]
    if _CALL_BEHIND.match(text, end) or _JAVA_METHOD_BEFORE.search(before):
        return False
    return not _is_named_argument(text, start, end)


def _is_go_variable(text: str, start: int, end: int) -> bool:
    """Whether a name without a dot is not called: a method has a receiver, or is one of an interface."""
    before = text[max(0, start - BEFORE_CHARS_MAX) : start]
    return not _DOTTED.search(before) and not _CALL_BEHIND.match(text, end)


_BESIDE_METHOD: Mapping[str, Callable[[str, int, int], bool]] = {
    "python": _is_python_variable,
    "java": _is_java_variable,
    "go": _is_go_variable,
}


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
