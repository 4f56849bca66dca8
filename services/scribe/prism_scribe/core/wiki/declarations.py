"""How a symbol is declared: the text of its line, and the comment that ends it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import Symbol, SymbolKind
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki.orientation import Evidence

# The end of a declaration that begins a block, a list or a value on the next lines.
_OPEN = re.compile(r"\s*[,;]?\s*$")
_SLASHED = re.compile(r"^(?P<code>.*?\S)\s+//+[!/<]*\s*(?P<said>\S.*)$")
_HASHED = re.compile(r"^(?P<code>.*?\S)\s{1,}#\s*:?\s*(?P<said>\S.*)$")
_HASH_LANGUAGES = frozenset(
    {"python", "ruby", "elixir", "perl", "r", "julia", "bash", "gdscript", "nim", "php"}
)
_QUOTES = ("'", '"', "`")
_DIRECTIVE = re.compile(r"^(?:noqa|nolint|type:|pragma|pylint|mypy|rubocop|ts-|eslint|nosec)", re.IGNORECASE)


_TRIPLE = re.compile(r"\"{3}|'{3}")
_BLOCK_OPEN = re.compile(r"^\s*/\*")
_COMMENT = re.compile(r"^\s*(?:///?|#(?!\[)|\*|--|;|%%)")
# A line that decides whether the lines below it, which have more indentation, are run.
_CONDITION = re.compile(
    r"^\s*(?:\}\s*)?(?P<kind>else if|elif|elsif|else|if|unless|for|foreach|while|until|case|when|catch|except|rescue|guard)\b"
    r"\s*(?P<rest>.*?)\s*(?:\bthen|\{|:)?\s*$"
)
_EXCLUDED = frozenset({"if", "elif", "elsif", "else if", "unless"})
# What a bracket leaves open goes on for so many lines.
STATEMENT_LINES_MAX = 4


class Declared(NamedTuple):
    """The text of a declaration, and what the comment at its end says."""

    code: str
    said: str


def declaration(evidence: Evidence, path: str, symbol: Symbol) -> Declared:
    """Returns the line that declares a symbol, which has its type, its default and its tags."""
    outline = evidence.outlines.get(path)
    line = evidence.line(path, symbol.name_line) or symbol.signature or symbol.name
    code, said = split_comment(line, outline.language if outline else "")
    return Declared(_OPEN.sub("", code), said)


def split_comment(line: str, language: str) -> Declared:
    """Returns a line of code and the comment at its end. A mark inside of a string begins no comment."""
    pattern = _HASHED if language in _HASH_LANGUAGES else _SLASHED
    found = pattern.match(line)
    if (
        not found
        or any(found["code"].count(quote) % 2 for quote in _QUOTES)
        or _DIRECTIVE.match(found["said"])
    ):
        return Declared(line, "")
    return Declared(found["code"], found["said"])


def said_of(symbol: Symbol, comment: str = "") -> str:
    """Returns what a symbol says of itself: its docstring, or the comment at the end of its line."""
    return first_sentence(symbol.docstring) or first_sentence(comment)


def code_lines(text: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the lines that are code, with their numbers: no comment, docstring or other text of several lines."""
    closing = ""
    for number, line in enumerate(text, start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        marks = _TRIPLE.findall(line)
        # The code before a text of several lines stays.
        code = line.partition(marks[0])[0] if marks else line
        if marks and marks.count(marks[0]) % 2:
            closing = marks[0]
        elif _BLOCK_OPEN.match(line) and "*/" not in line:
            closing = "*/"
            continue
        if code.strip() and not _COMMENT.match(code):
            yield number, code


def statement(text: Sequence[str], number: int) -> str:
    """Returns a line without its indentation, with the next ones if it leaves a bracket open or ends with a comma."""
    found: list[str] = []
    depth = 0
    for line in text[number - 1 : number - 1 + STATEMENT_LINES_MAX]:
        found.append(line.strip())
        depth += sum(line.count(mark) for mark in "([") - sum(line.count(mark) for mark in ")]")
        if depth <= 0 and not (
            len(found) == 1 and line.rstrip().endswith(",") and not line.strip().startswith('"')
        ):
            break
    return " ".join(found)


def condition(text: Sequence[str], number: int, first: int) -> str:
    """Returns the nearest condition around a line, down to the line `first`; empty if there is none.

    Indentation shows what is around what, as formatted code has it in every language.
    """
    margin = _margin(text[number - 1])
    else_margin = -1
    for line in reversed(text[first : number - 1]):
        if not line.strip() or _COMMENT.match(line):
            continue
        indent = _margin(line)
        found = _CONDITION.match(line)
        if indent == else_margin and found and found["kind"] in _EXCLUDED:
            return f"else of {found['kind']} {found['rest']}"
        if indent >= margin:
            continue
        margin = indent
        if found and found["kind"] == "else":
            else_margin = indent
        elif found:
            return f"{found['kind']} {found['rest']}".strip()
    return ""


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_callback(evidence: Evidence, path: str, symbol: Symbol) -> bool:
    """Whether a function of Elixir is a callback that a behaviour declares."""
    return symbol.kind in _CALLBACK_KINDS and evidence.line(path, symbol.name_line).startswith(
        ("@callback", "@macrocallback")
    )


_CALLBACK_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MACRO})
