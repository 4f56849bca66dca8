"""Finds what an edit affects: the symbol at some lines, its counterparts, and the tests of a file. Pure."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolFact, SymbolKind
from prism_contracts.rpc.symbols import Definition
from prism_resolver.languages import C_FAMILY
from prism_resolver.unit import enclosing_type
from prism_search.core.references.edges import SourceFile

CONSTRUCTORS = frozenset({"__init__", "__new__", "__construct", "initialize", "constructor"})
INTERFACES = frozenset({SymbolKind.INTERFACE, SymbolKind.TRAIT})
# Languages in which a type implements an interface without naming it.
IMPLICIT_INTERFACES = frozenset({"go"})
TEST_MARKS = re.compile(
    r"^(?:test[_.-]|tests?(?=[A-Z]))|(?:[_.-](?:tests?|spec)|(?<=[a-z0-9])(?:Tests?|Spec|IT))$"
)
STATIC = re.compile(r"\bstatic\b")
RECEIVER = re.compile(r"^func\s*\([^)]*\)\s*")


def symbol_at(symbols: Sequence[Symbol | SymbolFact], start: int, end: int) -> int:
    """Returns the smallest function or type around the lines, else the first that begins in them.

    The result is a position in `symbols`; -1 without one.
    """
    known = [at for at, symbol in enumerate(symbols) if symbol.kind in CALLABLE_KINDS | TYPE_KINDS]
    around = [at for at in known if symbols[at].start_line <= start and symbols[at].end_line >= end]
    if around:
        return min(around, key=lambda at: (symbols[at].end_line - symbols[at].start_line, -at))
    return next((at for at in known if start <= symbols[at].start_line <= end), -1)


def owner_of(file: SourceFile, index: int) -> str:
    """Returns the qualified name of a member's class; empty if the symbol is not a member."""
    symbol = file.symbols[index]
    return "" if symbol.kind in TYPE_KINDS else enclosing_type(file.facts, index)


def is_constructor(symbol: Symbol) -> bool:
    """Whether callers use the name of its class."""
    return symbol.kind is SymbolKind.CONSTRUCTOR or symbol.name in CONSTRUCTORS


def is_public(file: SourceFile, index: int) -> bool:
    """Whether other files can use it: it and all symbols around it are exported."""
    while index >= 0:
        if not file.symbols[index].exported:
            return False
        index = file.symbols[index].parent
    return True


def is_counterpart(definition: Definition, other: Definition) -> bool:
    """Whether both define one symbol: a declaration and its body, or two bodies of one declaration.

    Expects two different definitions with the same qualified name.
    """
    a, b = definition.symbol, other.symbol
    if definition.file_path == other.file_path:
        return True
    if definition.language in C_FAMILY and other.language in C_FAMILY:
        return not any(STATIC.search(symbol.signature) for symbol in (a, b) if symbol.parent < 0)
    stub, path = sorted((definition.file_path, other.file_path), key=len, reverse=True)
    return stub == f"{path}i"  # parcels/depot.pyi


def same_shape(symbol: Symbol, other: Symbol) -> bool:
    """Whether two methods have equally many parameters, whatever their names, and the same result."""
    return _shape(symbol) == _shape(other)


def files_named_after(path: str, tests: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns the test files named after a file, nearest first.

    `depot` has `test_depot.py`, `depot_test.go` and `Depot.spec.ts`. `tests` is the result of
    `group_tests_by_subject`.
    """
    stem, suffix = _stem(path)
    found = [other for other in tests.get(stem.lower(), ()) if suffix[:3] == _stem(other)[1][:3]]
    return sorted(found, key=lambda other: (-len(posixpath.commonpath([f"/{path}", f"/{other}"])), other))


def group_tests_by_subject(paths: Iterable[str]) -> dict[str, list[str]]:
    """Returns test files by the stem that they are named after, without other files."""
    found: dict[str, list[str]] = {}
    for path in paths:
        if stem := _subject_of(path):
            found.setdefault(stem, []).append(path)
    return found


def _subject_of(path: str) -> str:
    """Returns the stem that a test file is named after, as `depot` in `test_Depot.py`; else empty."""
    stem, _ = _stem(path)
    bare = TEST_MARKS.sub("", stem)
    return bare.lower() if bare != stem else ""


def _stem(path: str) -> tuple[str, str]:
    stem, suffix = posixpath.splitext(posixpath.basename(path))
    return stem, suffix


def _shape(symbol: Symbol) -> tuple[int, str]:
    """Returns the number of parameters and the text after them."""
    text = re.sub(r"\s", "", RECEIVER.sub("", symbol.signature))
    begins = text.find("(")
    depth = commas = 0
    for at, char in enumerate(text[begins:], begins):
        depth += (char in "([{") - (char in ")]}")
        commas += char == "," and depth == 1
        if depth == 0:
            return (0 if at == begins + 1 else commas + 1), text[at + 1 :]
    return 0, text
