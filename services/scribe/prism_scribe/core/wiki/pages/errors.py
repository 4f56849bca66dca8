"""The errors that the code defines and raises: what each says of itself, and where it is raised."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from prism_contracts.code import TYPE_KINDS, Symbol, SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.files import OutlineReply
from prism_scribe.core.wiki import declarations, markdown
from prism_scribe.core.wiki.contents import surveyed
from prism_scribe.core.wiki.orientation import Evidence, Orientation

ERRORS_MAX = 60
RAISED_MAX = 90
PLACES_MAX = 3
FIELDS_MAX = 4
ATTRIBUTE_LINES_MAX = 3

_NAMED = re.compile(r"(?:Error|Exception|Failure|Fault|Warning)s?$|^Err[A-Z]|^err[A-Z]|^E[A-Z]{3,}")
_BASE = re.compile(r"\b(?:\w*Error|\w*Exception|Throwable)\b")
_NAME = re.compile(r"[A-Za-z_]\w*")
_MADE = re.compile(r"\berrors\.New\(|\bfmt\.Errorf\(|\berror\b")
_VALUES = frozenset({SymbolKind.VARIABLE, SymbolKind.CONSTANT})
_FIELDS = frozenset({SymbolKind.FIELD, SymbolKind.PROPERTY, SymbolKind.CONSTANT, SymbolKind.VARIABLE})
# `raise depot.Full(...)`, `throw new Full(...)`, `throw Full(...)`: the last name is that of the error.
_RAISED = re.compile(
    r"(?:^|[\s({;:>])(?:raise|throw)\s+(?:new\s+)?\\?(?:[\w\\.:]*[.:\\])?(?P<name>[A-Za-z_]\w*)"
)
# `bail!`, `anyhow!` and `context` are of the library anyhow, which names no error.
_PANIC = re.compile(r"(?:^|\s)panic!?\(|\b(?:bail|anyhow)!\(|\.context\(\"|\.with_context\(\|\|")
# An error of Go that is made where it is returned.
_MADE_HERE = re.compile(r"\breturn\b.*\b(?:errors\.New|fmt\.Errorf)\(\"")
# Places of an error that the repository does not define: each is raised for another reason.
OTHERS_MAX = 40
# What a variant of a Rust enum says where it is printed: `#[error("the depot is full")]`.
_DISPLAYED = re.compile(r"#\[error\(\"(?P<said>[^\"]+)\"")
_MATCHED = re.compile(r"\bmatches!\(|\b(?:if|while)\s+let\b|[=!]=\s*\w")
_RETURNED = re.compile(r"\breturn\b|\bErrorf\(|[:=]\s*&?(?:\w+\.)?[eE]?\w*Err\w*(?:,|\{.*)?$")
_NEW = re.compile(r"\bnew\s")
_COMPARED = re.compile(r"\berrors\.(?:Is|As)\(|[=!]=|\bcase\b")
# `err = fmt.Errorf("%w: no parcel", ErrFull)`: the error after the format is wrapped.
_WRAPS = re.compile(r"^.*\bfmt\.Errorf\(\"[^\"]*%w[^\"]*\",")
_DEFINES = re.compile(r"=\s*(?:errors\.New|fmt\.Errorf)\(")
# Errors of a language that say: to be written by a subclass, or to be stopped.
_LANGUAGE = frozenset(
    {"NotImplementedError", "StopIteration", "StopAsyncIteration", "KeyboardInterrupt", "SystemExit"}
)
# Raised again as it was caught: the statement names no error.
_AGAIN = frozenset({"e", "ex", "err", "error", "exc", "exception", "from", "if", "self", "this"})


class _Error(NamedTuple):
    symbol: Symbol
    path: str
    name: str  # by which it is raised: `Full`, or `DepotError::Full` for a variant of Rust


class _Raised(NamedTuple):
    path: str
    line: int
    statement: str
    inside: str
    when: str  # the condition around the statement


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    errors = _errors(orientation, evidence)
    known = {error.name for error in errors}
    raised = _raised(orientation, evidence, known)
    own = [*markdown.section("Errors that it defines", _defined(evidence, errors, raised))]
    others = {name: places for name, places in raised.items() if name not in known}
    found = [*own, *markdown.section("Other errors that it raises", _others(others))]
    lead = (
        "Errors of the main source files, without those of tests. A place is a line that makes, raises or returns one, "
        "with the nearest condition around it."
    )
    if not found:
        return ["# Errors", "", "The main files define no error that Prism can list, and raise none."]
    return ["# Errors", "", lead, "", *found]


def _errors(orientation: Orientation, evidence: Evidence) -> list[_Error]:
    found: dict[str, _Error] = {}
    derived = _derived(orientation, evidence)
    for path in surveyed(orientation):
        outline = evidence.outlines.get(path)
        for symbol in outline.symbols if outline else ():
            if _is_error(evidence, path, symbol) or symbol.qualified_name in derived:
                found.setdefault(symbol.qualified_name, _Error(symbol, path, symbol.name.rpartition(".")[2]))
            elif outline and _is_variant(outline, symbol):
                enum = outline.symbols[symbol.parent].name
                found.setdefault(symbol.qualified_name, _Error(symbol, path, f"{enum}::{symbol.name}"))
    return list(found.values())[:ERRORS_MAX]


def _derived(orientation: Orientation, evidence: Evidence) -> set[str]:
    """Returns the types that extend an error of the repository, directly or through others, whatever their name is."""
    types = {
        symbol.qualified_name: symbol
        for path in surveyed(orientation)
        for symbol in (evidence.outlines[path].symbols if path in evidence.outlines else ())
        if symbol.kind is SymbolKind.CLASS
    }
    bases = {name: set(_NAME.findall(one.signature.partition(one.name)[2])) for name, one in types.items()}
    known = {one.name for one in types.values() if _NAMED.search(one.name) or _BASE.search(one.signature)}
    derived: set[str] = set()
    while found := {name for name, of in bases.items() if name not in derived and of & known}:
        derived |= found
        known |= {types[name].name for name in found}
    return derived


def _is_error(evidence: Evidence, path: str, symbol: Symbol) -> bool:
    if symbol.kind is SymbolKind.MODULE:
        text = evidence.texts.get(path, ())[symbol.start_line - 1 : symbol.end_line]
        return any(line.lstrip().startswith("defexception") for line in text)
    if symbol.kind in TYPE_KINDS:
        is_named = _NAMED.search(symbol.name) is not None and symbol.kind is not SymbolKind.NAMESPACE
        return is_named or _BASE.search(symbol.signature.partition(symbol.name)[2]) is not None
    is_value = symbol.kind in _VALUES and symbol.parent < 0
    return is_value and _NAMED.search(symbol.name) is not None and _MADE.search(symbol.signature) is not None


def _is_variant(outline: OutlineReply, symbol: Symbol) -> bool:
    """Whether a symbol is a variant of an enum of errors in Rust, where each variant is an error of its own."""
    parent = outline.symbols[symbol.parent] if symbol.parent >= 0 else None
    return (
        outline.language == "rust"
        and symbol.kind is SymbolKind.CONSTANT
        and parent is not None
        and parent.kind is SymbolKind.ENUM
        and _NAMED.search(parent.name) is not None
    )


def _raised(orientation: Orientation, evidence: Evidence, known: set[str]) -> dict[str, list[_Raised]]:
    """Returns the places that raise errors, by the name of the error."""
    values = sorted(name for name in known if re.match(r"[eE]rr[A-Z]", name))
    variants = sorted(name for name in known if "::" in name)
    types = sorted(known.difference(values, variants))
    patterns = [rf"\b({'|'.join(map(re.escape, values))})\b"] if values else []
    patterns += [rf"\b({'|'.join(map(re.escape, types))})\{{"] if types else []
    named = re.compile("|".join(patterns)) if patterns else None
    made = re.compile(rf"\bnew\s+\\?(?:\w+\\)*({'|'.join(map(re.escape, types))})\(") if types else None
    chosen = re.compile(rf"\b({'|'.join(map(re.escape, variants))})\b") if variants else None
    by_language = {"go": named, "rust": chosen}
    found: dict[str, list[_Raised]] = {}
    for path in surveyed(orientation):
        outline = evidence.outlines.get(path)
        language = outline.language if outline else ""
        returned = by_language.get(language, made)
        for number, line in declarations.code_lines(evidence.texts.get(path, ())):
            for name in _names_raised(line, language, returned):
                is_arm = "=>" in line  # the next one is another
                text = evidence.texts[path]
                statement = line.strip() if is_arm else declarations.statement(text, number)
                around = _inside(evidence, path, number)
                when = declarations.condition(evidence.texts[path], number, around.name_line if around else 1)
                inside = around.qualified_name if around else ""
                found.setdefault(name, []).append(_Raised(path, number, statement, inside, when))
    return found


def _names_raised(line: str, language: str, values: re.Pattern[str] | None) -> Iterator[str]:
    if raised := _RAISED.search(line):
        name = raised["name"]
        if (
            name not in _AGAIN
            and name not in _LANGUAGE
            and (name[0].isupper() or name.endswith(("Error", "Exception")))
        ):
            yield name
    elif _PANIC.search(line):
        yield "panic"
    elif values and language == "rust":
        # A pattern of `match` stands before the arrow, and makes no error.
        made = "" if _MATCHED.search(line) else line.rpartition("=>")[2]
        yield from (value[1] for value in values.finditer(made))
    elif values and _makes(line) and (value := values.search(_WRAPS.sub("", line))):
        yield next(filter(None, value.groups()))
    elif language == "go" and _MADE_HERE.search(line):
        yield "error"


def _makes(line: str) -> bool:
    """Whether a line may make or return an error, rather than compare or define it."""
    is_made = _RETURNED.search(line) or _NEW.search(line)
    is_defined = _DEFINES.search(line) and not _WRAPS.search(line)
    return bool(is_made) and not _COMPARED.search(line) and not is_defined


def _inside(evidence: Evidence, path: str, line: int) -> Symbol | None:
    """Returns the smallest definition around a line."""
    outline = evidence.outlines.get(path)
    around = [
        symbol
        for symbol in (outline.symbols if outline else ())
        if symbol.start_line <= line <= symbol.end_line and symbol.end_line > symbol.name_line
    ]
    return min(around, key=lambda one: one.end_line - one.start_line, default=None)


def _defined(evidence: Evidence, errors: list[_Error], raised: dict[str, list[_Raised]]) -> list[str]:
    rows = []
    for symbol, path, name in errors:
        declared = declarations.declaration(evidence, path, symbol)
        said = " ".join(
            filter(
                None,
                [
                    markdown.text(
                        declarations.said_of(symbol, declared.said) or _displayed(evidence, path, symbol)
                    ),
                    _values(evidence, path, symbol),
                ],
            )
        )
        places = raised.get(name, [])
        rows.append(
            (
                markdown.code(name if "::" in name else declared.code),
                said,
                markdown.place(path, symbol.name_line),
                _places(places),
            )
        )
    return markdown.table(
        ("error", "what it says of itself", "defined in", "made, raised or returned in"), rows
    )


def _displayed(evidence: Evidence, path: str, error: Symbol) -> str:
    """Returns the text in the attribute above a variant of Rust."""
    above = evidence.texts.get(path, ())[
        max(0, error.name_line - 1 - ATTRIBUTE_LINES_MAX) : error.name_line - 1
    ]
    for line in reversed(above):
        if not line.lstrip().startswith("#["):
            break
        if found := _DISPLAYED.search(line):
            return found["said"]
    return ""


def _values(evidence: Evidence, path: str, error: Symbol) -> str:
    """Returns the fields of an error with the values that they begin with, such as its status and message."""
    outline = evidence.outlines.get(path)
    symbols = outline.symbols if outline else ()
    fields = [
        one for one in symbols if one.parent >= 0 and symbols[one.parent] is error and one.kind in _FIELDS
    ]
    declared = [declarations.declaration(evidence, path, one).code for one in fields]
    return markdown.joined(
        [markdown.code(code) for code in declared if re.search(r"=\s*\S", code)][:FIELDS_MAX]
    )


def _places(places: list[_Raised]) -> str:
    return markdown.joined([_place(one) for one in places[:PLACES_MAX]], len(places))


def _place(one: _Raised) -> str:
    at = markdown.place(one.path, one.line)
    where = f"{markdown.code(one.inside)} ({at})" if one.inside else at
    return f"{where} under {markdown.code(one.when)}" if one.when else where


def _others(raised: dict[str, list[_Raised]]) -> list[str]:
    rows = [
        (
            markdown.code(one.statement),
            markdown.code(one.when),
            markdown.code(one.inside),
            markdown.place(one.path, one.line),
        )
        for places in raised.values()
        for one in places[:OTHERS_MAX]
    ]
    return markdown.table(("statement", "under", "inside", "place"), rows[:RAISED_MAX])
