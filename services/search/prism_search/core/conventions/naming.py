"""Infers how functions, types, constants and files are named, by kind and language."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from prism_contracts.code import TYPE_KINDS, Flag, ReferenceKind, Symbol, SymbolFact, SymbolKind
from prism_contracts.rpc.guidance import Convention
from prism_search.core.conventions.tally import Tally
from prism_search.core.references.edges import SourceFile

TOPIC = "naming"
# A single word in lower or upper case fits several styles, so it is no evidence of any.
STYLES = (
    ("UPPER_CASE", re.compile(r"_*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+_*")),
    ("snake_case", re.compile(r"_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+_*")),
    ("PascalCase", re.compile(r"_*(?:[A-Z][a-z0-9]*)+")),
    ("camelCase", re.compile(r"_*[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")),
    ("kebab-case", re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")),
)
LABELS = {
    SymbolKind.FUNCTION: "functions",
    SymbolKind.METHOD: "methods",
    SymbolKind.CONSTANT: "constants",
}
NAMED_TYPES = TYPE_KINDS - {SymbolKind.MODULE, SymbolKind.NAMESPACE, SymbolKind.OBJECT}
# Languages in which a capital letter exports a name.
EXPORTED_BY_CASE = frozenset({"go"})
SPECIAL = re.compile(r"__\w+__|_+|[^\w].*|_*[A-Z]{2,}[A-Z0-9]*")
ERROR_ENDING = re.compile(r"(Error|Exception|Failure|Fault)$")
INTERFACE_PREFIX = re.compile(r"I[A-Z][a-z]")


def naming(language: str, files: Sequence[SourceFile]) -> Iterator[Convention]:
    """Yields the naming conventions of files of one language."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    endings, interfaces, names = Tally(), Tally(), Tally()
    for file in files:
        stem = posixpath.basename(file.path).partition(".")[0]
        names.add(style_of(stem), file.path, 1, stem) if style_of(stem) else None
        if Flag.TEST in file.flags:
            continue
        for symbol in file.symbols:
            label = _label(file, symbol)
            if label and (style := style_of(symbol.name)):
                tallies[label].add(style, file.path, symbol.name_line, symbol.signature or symbol.name)
            if symbol.kind is SymbolKind.INTERFACE:
                way = "I" if INTERFACE_PREFIX.match(symbol.name) else ""
                interfaces.add(way, file.path, symbol.name_line, symbol.name)
        for name, line in error_types(file):
            ending = ERROR_ENDING.search(name)
            endings.add(ending[1] if ending else "", file.path, line, name)
    found = [tally.most(TOPIC, language, f"{label} are {{}}") for label, tally in sorted(tallies.items())]
    found.append(endings.most(TOPIC, language, "names of error types end in {}", things_min=3))
    found.append(interfaces.most(TOPIC, language, "names of interfaces begin with {}"))
    found.append(names.most("files", language, "files are named in {}"))
    yield from filter(None, found)


def style_of(name: str) -> str:
    """Returns the style of a name; empty if it fits none or several."""
    if SPECIAL.fullmatch(name):
        return ""
    return next((style for style, pattern in STYLES if pattern.fullmatch(name)), "")


def error_types(file: SourceFile) -> Iterator[tuple[str, int]]:
    """Yields the types of a file that extend an error type, with their lines."""
    seen: set[int] = set()
    for reference in file.references:
        is_base = reference.kind in {ReferenceKind.EXTENDS, ReferenceKind.IMPLEMENTS}
        if is_base and reference.symbol >= 0 and ERROR_ENDING.search(reference.name):
            symbol = file.symbols[reference.symbol]
            if symbol.kind in TYPE_KINDS and reference.symbol not in seen:
                seen.add(reference.symbol)
                yield symbol.name, symbol.name_line


def _label(file: SourceFile, symbol: Symbol | SymbolFact) -> str:
    """Returns the label of a symbol's kind; empty for a kind that is not counted."""
    if symbol.kind is SymbolKind.CONSTANT and symbol.parent >= 0:
        return "enum members" if file.symbols[symbol.parent].kind is SymbolKind.ENUM else "constants"
    label = "types" if symbol.kind in NAMED_TYPES else LABELS.get(symbol.kind, "")
    if not label or file.language not in EXPORTED_BY_CASE:
        return label
    return f"{'exported' if symbol.exported else 'unexported'} {label}"
