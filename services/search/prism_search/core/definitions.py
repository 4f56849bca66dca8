"""Definitions found by name, and how replies show them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.code import ASIDE, CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolKind
from prism_contracts.rpc.symbols import Definition, DefinitionPlace
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


class NameMatch(NamedTuple):
    """The definitions that fit a name, in the order to show them; without any, what is near.

    If nothing has the requested name and one other is meant beyond doubt, `name` is that one.
    """

    name: SymbolName
    found: Sequence[DefinitionMatch]
    suggestions: tuple[str, ...] = ()
    # Files that hold the name but have no symbols, because their parser failed.
    unparsed: tuple[str, ...] = ()


def corrections(asked: Iterable[str], shown: Iterable[str]) -> dict[str, str]:
    """Returns the requested names that differ from the names shown, which are in the same order."""
    return {one.strip(): other for one, other in zip(asked, shown, strict=True) if one.strip() != other}


def definition_reply(target: Target, point: StoredPoint, symbol: Symbol, body: str = "") -> Definition:
    """Returns a definition as replies show it. `point` has scope, path and language."""
    return Definition(
        repo=target.name_of(point.repo),
        file_path=point.text("path"),
        language=point.text("language"),
        symbol=symbol,
        body=body,
    )


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
    by_place: dict[tuple[str, str, int], list[Symbol]] = {}
    for one in found:
        there = by_place.setdefault((one.point.id, one.symbol.name, one.symbol.start_line), [])
        if not any(_looks_like(one.symbol, other) for other in there):
            there.append(one.symbol)
            kept.append(one)
    return kept


def _looks_like(symbol: Symbol, other: Symbol) -> bool:
    names = sorted([symbol.qualified_name, other.qualified_name], key=len)
    return symbol.signature == other.signature or names[1].startswith(f"{names[0]}.")


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
