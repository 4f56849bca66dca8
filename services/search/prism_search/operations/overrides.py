"""Finds the methods that a method overrides, its overrides, and its siblings with the same base."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prism_contracts.code import EdgeKind
from prism_contracts.rpc.symbols import ReferenceEntry
from prism_resolver.expressions import steps_of
from prism_search.adapters.definitions import Definitions
from prism_search.core.definitions import LocatedSymbol
from prism_search.core.edits import IMPLICIT_INTERFACES, INTERFACES, same_shape
from prism_search.operations.focus import SymbolFocus
from prism_search.operations.timed_references import TimedReferences

BASES_MAX = 3
INHERITS = frozenset({EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS})


class Overrides(NamedTuple):
    """A method's definitions in bases and interfaces, derived classes, and classes with the same base."""

    above: Sequence[LocatedSymbol]
    below: Sequence[LocatedSymbol]
    beside: Sequence[LocatedSymbol]


async def find_overrides(
    definitions: Definitions, focus: SymbolFocus, references: TimedReferences
) -> Overrides:
    """Returns the related definitions of a method, without itself."""
    name = focus.symbol.name
    below = await _in_subtypes(definitions, focus, await references.entries(focus.owner, focus.file.path))
    if focus.file.language in IMPLICIT_INTERFACES:
        same_shaped = [
            one
            for one in await definitions.members(focus.target, name)
            if same_shape(focus.symbol, one.symbol) and not _is_own(focus, one)
        ]
        above = [one for one in same_shaped if one.outer and one.outer.kind in INTERFACES]
        return Overrides(above, below, [one for one in same_shaped if one not in above] if above else ())
    bases = focus.file.unit.bases.get(focus.owner, ())
    above = await definitions.called(
        focus.target, {f"{steps_of(base.type)[-1].name}.{name}" for base in bases if steps_of(base.type)}
    )
    beside: list[LocatedSymbol] = []
    for base in above[:BASES_MAX]:
        if references.is_over(f"Siblings of {focus.owner}"):
            break
        owner = base.symbol.qualified_name.rpartition(".")[0]
        entries = await references.entries(owner, base.point.text("path"))
        beside += await _in_subtypes(definitions, focus, entries)
    return Overrides(above, below, _without(beside, (*above, *below)))


def subtypes(uses: Iterable[ReferenceEntry]) -> list[ReferenceEntry]:
    """Returns the classes that extend or implement the symbol, tests included."""
    return [entry for entry in uses if entry.edge in INHERITS and entry.symbol]


async def _in_subtypes(
    definitions: Definitions, focus: SymbolFocus, uses: Iterable[ReferenceEntry]
) -> list[LocatedSymbol]:
    """Returns the definitions of the method in derived classes, except the method itself."""
    names = {f"{entry.symbol}.{focus.symbol.name}" for entry in subtypes(uses)}
    return [one for one in await definitions.called(focus.target, names) if not _is_own(focus, one)]


def _is_own(focus: SymbolFocus, one: LocatedSymbol) -> bool:
    return one.point.id == focus.file.id and one.symbol == focus.symbol


def _without(found: Iterable[LocatedSymbol], known: Iterable[LocatedSymbol]) -> list[LocatedSymbol]:
    """Returns what is not known yet, each place once."""
    places = {(one.point.id, one.symbol.start_line) for one in known}
    kept = []
    for one in found:
        place = (one.point.id, one.symbol.start_line)
        if place not in places:
            places.add(place)
            kept.append(one)
    return kept
