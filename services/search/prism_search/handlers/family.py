"""The same method in the classes above, below and beside the one that has it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prism_contracts.code import EdgeKind
from prism_contracts.rpc.symbols import ReferenceEntry
from prism_resolver.expressions import steps_of
from prism_search.adapters.definitions import Definitions, Located
from prism_search.core.edits import IMPLICIT_INTERFACES, INTERFACES, same_shape
from prism_search.handlers.focus import SymbolFocus
from prism_search.handlers.timed_references import TimedReferences

BASES_MAX = 3
INHERITS = frozenset({EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS})


class Family(NamedTuple):
    """Definitions of one method: as bases and interfaces ask for it, in derived classes, and in others with the same base."""

    above: Sequence[Located]
    below: Sequence[Located]
    beside: Sequence[Located]


async def find_family(definitions: Definitions, focus: SymbolFocus, references: TimedReferences) -> Family:
    """The family of a method, without itself."""
    name = focus.symbol.name
    below = await _in_subtypes(definitions, focus, await references.entries(focus.owner, focus.file.path))
    if focus.file.language in IMPLICIT_INTERFACES:
        alike = [
            one
            for one in await definitions.members(focus.target, name)
            if same_shape(focus.symbol, one.symbol) and not _is_own(focus, one)
        ]
        above = [one for one in alike if one.outer and one.outer.kind in INTERFACES]
        return Family(above, below, [one for one in alike if one not in above] if above else ())
    bases = focus.file.unit.bases.get(focus.owner, ())
    above = await definitions.called(
        focus.target, {f"{steps_of(base.type)[-1].name}.{name}" for base in bases if steps_of(base.type)}
    )
    beside: list[Located] = []
    for base in above[:BASES_MAX]:
        if references.is_over(f"Siblings of {focus.owner}"):
            break
        owner = base.symbol.qualified_name.rpartition(".")[0]
        entries = await references.entries(owner, base.point.text("path"))
        beside += await _in_subtypes(definitions, focus, entries)
    return Family(above, below, _without(beside, (*above, *below)))


def subtypes(uses: Iterable[ReferenceEntry]) -> list[ReferenceEntry]:
    """The classes that extend or implement what is used, in tests too."""
    return [entry for entry in uses if entry.edge in INHERITS and entry.symbol]


async def _in_subtypes(
    definitions: Definitions, focus: SymbolFocus, uses: Iterable[ReferenceEntry]
) -> list[Located]:
    """The method in the classes that are derived from another one, but for its own."""
    names = {f"{entry.symbol}.{focus.symbol.name}" for entry in subtypes(uses)}
    return [one for one in await definitions.called(focus.target, names) if not _is_own(focus, one)]


def _is_own(focus: SymbolFocus, one: Located) -> bool:
    return one.point.id == focus.file.id and one.symbol == focus.symbol


def _without(found: Iterable[Located], known: Iterable[Located]) -> list[Located]:
    """Each once, by place."""
    places = {(one.point.id, one.symbol.start_line) for one in known}
    kept = []
    for one in found:
        place = (one.point.id, one.symbol.start_line)
        if place not in places:
            places.add(place)
            kept.append(one)
    return kept
