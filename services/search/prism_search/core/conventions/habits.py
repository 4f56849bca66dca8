"""Infers how code of a language is written: documentation, types, async, errors, imports, lines."""

import re
from collections.abc import Iterable, Iterator, Sequence

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Flag, ReferenceKind, Symbol, SymbolFact
from prism_contracts.rpc.guidance import Convention
from prism_resolver.languages import ECMASCRIPT
from prism_search.core.conventions.naming import error_types
from prism_search.core.conventions.tally import Tally
from prism_search.core.references.edges import SourceFile

DOC_STYLES = (
    (":param", re.compile(r"^\s*(:(?:param|returns?|raises)\b.*)", re.MULTILINE)),
    ("Args:", re.compile(r"^\s*((?:Args|Returns|Raises|Yields):)\s*$", re.MULTILINE)),
    ("Parameters and dashes", re.compile(r"^\s*(Parameters|Returns)\s*\n\s*-{4,}", re.MULTILINE)),
    ("@param", re.compile(r"(@(?:param|returns?|throws)\b.*)")),
)
DOC_LINES_MAX = 40
# What a result type looks like, in languages where it is optional.
RESULT_TYPES = {"python": re.compile(r"->"), "php": re.compile(r"\)\s*:\s*\??[\w\\]")}
ASYNC = re.compile(r"\basync\b")
ASYNC_LANGUAGES = ECMASCRIPT | {"python", "rust", "csharp", "swift"}
THROWN = re.compile(r"(?:^|[\s;{(])(?:raise|throw)\s+(?:new\s+)?([A-Za-z_][\w.:\\]*)\s*\(")
GO_ERRORS = frozenset(
    {"errors.New", "fmt.Errorf", "errors.Wrap", "errors.Wrapf", "errors.Errorf", "errors.Join"}
)
INDENT = re.compile(r"^(\t| {2,8})\S")
LINE_PERCENTILE = 0.95
LINES_MIN = 200


def habits(language: str, files: Sequence[SourceFile]) -> Iterator[Convention]:
    """Yields the conventions of code in one language."""
    code = [file for file in files if Flag.TEST not in file.flags]
    found = [
        _documented(language, code),
        _doc_style(language, code),
        _typed(language, code),
        _async(language, code),
        _error_bases(language, code),
        _thrown(language, code),
        _imports(language, code),
        _indent(language, files),
        _line_length(language, files),
    ]
    yield from filter(None, found)


def _documented(language: str, files: Iterable[SourceFile]) -> Convention | None:
    tally = Tally()
    for file in files:
        for symbol in file.symbols:
            if symbol.kind in CALLABLE_KINDS | TYPE_KINDS and symbol.exported:
                text = symbol.docstring.partition("\n")[0] if symbol.docstring else symbol.signature
                way = "have" if symbol.docstring else ""
                tally.add(way, file.path, symbol.start_line, text)
    return tally.most("docs", language, "exported functions and types {} a doc comment")


def _doc_style(language: str, files: Iterable[SourceFile]) -> Convention | None:
    tally = Tally()
    for file in files:
        for symbol in file.symbols:
            if symbol.docstring and symbol.kind in CALLABLE_KINDS:
                _count_doc_style(file, symbol, tally)
    return tally.most("docs", language, "doc comments describe parameters as {}")


def _count_doc_style(file: SourceFile, symbol: Symbol | SymbolFact, tally: Tally) -> None:
    # Only the beginning of a docstring is indexed; the rest is read from the lines.
    end = min(symbol.end_line, symbol.start_line + DOC_LINES_MAX)
    text = "\n".join(file.lines[symbol.start_line - 1 : end])
    for style, pattern in DOC_STYLES:
        found = pattern.search(text)
        if found:
            line = symbol.start_line + text.count("\n", 0, found.start(1))
            tally.add(style, file.path, line, found[1])
            return


def _typed(language: str, files: Iterable[SourceFile]) -> Convention | None:
    pattern = RESULT_TYPES.get(language)
    if pattern is None:
        return None
    tally = Tally()
    for file in files:
        for symbol in file.symbols:
            if symbol.kind in CALLABLE_KINDS and symbol.signature and not symbol.name.startswith("__"):
                way = "have a" if pattern.search(symbol.signature) else "have no"
                tally.add(way, file.path, symbol.name_line, symbol.signature)
    return tally.most("types", language, "functions {} result type")


def _async(language: str, files: Iterable[SourceFile]) -> Convention | None:
    if language not in ASYNC_LANGUAGES:
        return None
    tally = Tally()
    for file in files:
        for symbol in file.symbols:
            if symbol.kind in CALLABLE_KINDS and symbol.signature:
                way = "async" if ASYNC.search(symbol.signature) else "synchronous"
                tally.add(way, file.path, symbol.name_line, symbol.signature)
    return tally.most("async", language, "functions are {}")


def _error_bases(language: str, files: Sequence[SourceFile]) -> Convention | None:
    tally = Tally()
    for file in files:
        known = dict(error_types(file))
        for reference in file.references:
            if reference.kind is ReferenceKind.EXTENDS and reference.symbol >= 0:
                name = file.symbols[reference.symbol].name
                if name in known:
                    tally.add(reference.name, file.path, reference.line, f"{name} extends {reference.name}")
    return tally.most("errors", language, "error types are derived from {}", things_min=3)


def _thrown(language: str, files: Sequence[SourceFile]) -> Convention | None:
    own = {name for file in files for name, _ in error_types(file)}
    tally = Tally()
    for file in files:
        if language == "go":
            _count_go_errors(file, tally)
            continue
        for number, line in enumerate(file.lines, 1):
            thrown = THROWN.search(line)
            if thrown:
                name = re.split(r"\W+", thrown[1])[-1]
                tally.add("an own type" if name in own else name, file.path, number, line)
    return tally.most(
        "errors", language, "errors are made with {}" if language == "go" else "thrown values are {}"
    )


def _count_go_errors(file: SourceFile, tally: Tally) -> None:
    for reference in file.references:
        called = f"{reference.qualifier}.{reference.name}"
        if reference.kind is ReferenceKind.CALL and called in GO_ERRORS:
            line = file.lines[reference.line - 1] if reference.line <= len(file.lines) else called
            tally.add(called, file.path, reference.line, line)


def _imports(language: str, files: Iterable[SourceFile]) -> Convention | None:
    """Counts relative and absolute imports of the repository's own modules: others cannot be relative."""
    if language not in ECMASCRIPT | {"python"}:
        return None
    tally = Tally()
    for file in files:
        own = {part for part in file.path.split("/")[:-1] if part}
        for one in file.references:
            if one.kind is not ReferenceKind.IMPORT or not one.qualifier:
                continue
            head = one.qualifier.split(".")[0] if language == "python" else one.qualifier.split("/")[0]
            way = (
                "relative"
                if one.qualifier.startswith(".")
                else "absolute"
                if head in own or head in {"@", "~"}
                else ""
            )
            if way:
                tally.add(way, file.path, one.line, f"{one.qualifier}: {one.name}")
    return tally.most("imports", language, "imports of modules in this repository are {}")


def _indent(language: str, files: Iterable[SourceFile]) -> Convention | None:
    tally = Tally()
    for file in files:
        found = next(((n, m) for n, line in enumerate(file.lines, 1) if (m := INDENT.match(line))), None)
        if found:
            number, indent = found
            way = "a tab" if indent[1] == "\t" else f"{len(indent[1])} spaces"
            tally.add(way, file.path, number, file.lines[number - 1])
    return tally.most("lines", language, "code is indented by {}", things_min=3)


def _line_length(language: str, files: Iterable[SourceFile]) -> Convention | None:
    lengths = sorted(len(line) for file in files for line in file.lines if line.strip())
    if len(lengths) < LINES_MIN:
        return None
    longest = lengths[int(LINE_PERCENTILE * len(lengths))]
    return Convention(
        topic="lines",
        language=language,
        statement=f"95 of 100 lines have at most {longest} characters",
        count=sum(length <= longest for length in lengths),
        total=len(lengths),
    )
