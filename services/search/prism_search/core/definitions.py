"""Definitions found by name, and how replies show them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.code import ASIDE, CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolFact, SymbolKind
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.files import FileRange
from prism_contracts.rpc.symbols import Definition, DefinitionPlace, OverloadChoice
from prism_resolver.languages import C_FAMILY
from prism_resolver.symbol_names import NameFit, SymbolName
from prism_store.reader import StoredPoint


class LocatedSymbol(NamedTuple):
    """A definition, the file that has it, and the symbol around it."""

    point: StoredPoint
    symbol: Symbol
    outer: Symbol | None


class DefinitionMatch(NamedTuple):
    """A definition, the file that has it, and how well its name fits the requested one."""

    point: StoredPoint
    symbol: Symbol
    fit: NameFit


class DeclaredDefinition(NamedTuple):
    """A definition, and the prototypes that declare it elsewhere."""

    match: DefinitionMatch
    prototypes: Sequence[DefinitionMatch]


class NameMatch(NamedTuple):
    """The definitions that fit a name, in the order to show them; without any, what is near.

    If nothing has the requested name and one other is meant beyond doubt, `name` is that one.
    """

    name: SymbolName
    found: Sequence[DefinitionMatch]
    suggestions: tuple[str, ...] = ()
    # Files that hold the name but have no symbols, because their parser failed.
    unparsed: tuple[str, ...] = ()
    # If the function has several, and the request gives the place or the parameters of one.
    overload: OverloadChoice | None = None

    @property
    def is_one_overload(self) -> bool:
        """Whether `found` has one overload of a function that has several."""
        return self.overload is not None and not self.overload.parameters


def corrections(asked: Iterable[str], shown: Iterable[str]) -> dict[str, str]:
    """Returns the requested names that differ from the names shown, which are in the same order."""
    return {one.strip(): other for one, other in zip(asked, shown, strict=True) if one.strip() != other}


def definition_reply(
    target: Target,
    point: StoredPoint,
    symbol: Symbol,
    body: str = "",
    prototypes: Iterable[DefinitionMatch] = (),
) -> Definition:
    """Returns a definition as replies show it. `point` has scope, path and language."""
    return Definition(
        repo=target.name_of(point.repo),
        file_path=point.text("path"),
        language=point.text("language"),
        symbol=symbol,
        body=body,
        declared=tuple(
            FileRange(
                file_path=one.point.text("path"),
                start_line=one.symbol.start_line,
                end_line=one.symbol.end_line,
            )
            for one in prototypes
        ),
    )


def members_of(symbol: Symbol, symbols: Sequence[Symbol | SymbolFact]) -> list[EnclosingSymbol]:
    """Returns the functions and types directly in a type, from all symbols of its file."""
    place = (symbol.qualified_name, symbol.kind, symbol.name_line)
    own = {at for at, one in enumerate(symbols) if (one.qualified_name, one.kind, one.name_line) == place}
    return [
        EnclosingSymbol(name=one.name, kind=one.kind.value, start_line=one.start_line, end_line=one.end_line)
        for one in symbols
        if one.parent in own and one.kind in CALLABLE_KINDS | TYPE_KINDS
    ]


def definition_place(found: DefinitionMatch) -> DefinitionPlace:
    """Returns the place of a definition, by which atlas knows it."""
    return DefinitionPlace(
        file_path=found.point.text("path"),
        qualified_name=found.symbol.qualified_name,
        name_line=found.symbol.name_line,
    )


def best_matches(found: Iterable[DefinitionMatch]) -> list[DefinitionMatch]:
    """Returns the definitions that fit best, in the order to show them."""
    found = list(found)
    best = max((item.fit.degree for item in found), default=None)
    return sorted((item for item in found if item.fit.degree == best), key=_order)


def distinct_places(found: Iterable[DefinitionMatch]) -> list[DefinitionMatch]:
    """Returns definitions without those that look like an earlier one to a reader.

    A type and its constructor of the same name, or a `typedef` and the type that it names, are two symbols
    for references, and one place for a reader. Overloads on one line differ.
    """
    kept: list[DefinitionMatch] = []
    by_name: dict[tuple[str, str], list[Symbol]] = {}
    for one in found:
        there = by_name.setdefault((one.point.id, one.symbol.name), [])
        if not any(_looks_like(one.symbol, other) for other in there):
            there.append(one.symbol)
            kept.append(one)
    return kept


def with_prototypes(found: Sequence[DefinitionMatch]) -> list[DeclaredDefinition]:
    """Returns definitions, each with its prototypes. A prototype whose definition is not among them stands alone."""
    bodies = [one for one in found if not one.symbol.bodiless]
    declared: dict[int, list[DefinitionMatch]] = {}
    folded: set[int] = set()
    for one in found:
        body = _body_of(one, bodies)
        if body is not None:
            declared.setdefault(id(body), []).append(one)
            folded.add(id(one))
    return [DeclaredDefinition(one, declared.get(id(one), ())) for one in found if id(one) not in folded]


def _body_of(one: DefinitionMatch, bodies: Iterable[DefinitionMatch]) -> DefinitionMatch | None:
    """Returns what a prototype declares: the only definition of its name, or the one with equal parameters."""
    if not one.symbol.bodiless or one.point.text("language") not in C_FAMILY:
        return None
    named = [
        body
        for body in bodies
        if body.symbol.qualified_name == one.symbol.qualified_name and body.point.repo == one.point.repo
    ]
    equal = [body for body in named if _parameters(body.symbol) == _parameters(one.symbol)]
    chosen = equal or named
    return chosen[0] if len(chosen) == 1 else None


def _parameters(symbol: Symbol) -> str:
    return "".join(symbol.signature.partition("(")[2].rpartition(")")[0].split())


def _looks_like(symbol: Symbol, other: Symbol) -> bool:
    has_equal_signature = symbol.signature == other.signature
    if symbol.start_line != other.start_line:  # only one of them has the doc comment
        return has_equal_signature and symbol.end_line == other.end_line
    names = sorted([symbol.qualified_name, other.qualified_name], key=len)
    return has_equal_signature or names[1].startswith(f"{names[0]}.")


def _order(found: DefinitionMatch) -> tuple[object, ...]:
    """Returns the sort key of a definition.

    Whole names first, then code before tests and generated files, bodies before prototypes, types before
    callables before values, and declared types before other names of types.
    """
    point, symbol, fit = found
    group = 0 if symbol.kind in TYPE_KINDS else 1 if symbol.kind in CALLABLE_KINDS else 2
    low = sum(flag in point.text("flags") for flag in ASIDE)
    place = (point.text("path"), symbol.start_line)
    return (not fit.is_whole, low, symbol.bodiless, group, symbol.kind is SymbolKind.TYPE, *place)
