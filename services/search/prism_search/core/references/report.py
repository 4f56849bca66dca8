"""Edges as they are told: by group, and beside the text that holds the name."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.code import EdgeKind, EdgeStatus, ReferenceKind
from prism_contracts.rpc import ReferenceGroup
from prism_search.core.references.modules import C_FAMILY
from prism_search.core.references.resolution import Definition, Edge, Resolver
from prism_search.core.references.scopes import SourceFile

# Definitions of one name that are told apart; a name with more of them is asked for by its qualified name.
SYMBOLS_MAX = 20
TEST = "t"
PROSE = "p"

EDGE_KINDS: Mapping[ReferenceKind, EdgeKind] = {
    ReferenceKind.CALL: EdgeKind.CALLS,
    ReferenceKind.IMPORT: EdgeKind.IMPORTS,
    ReferenceKind.EXTENDS: EdgeKind.EXTENDS,
    ReferenceKind.IMPLEMENTS: EdgeKind.IMPLEMENTS,
    ReferenceKind.ASSIGN: EdgeKind.ASSIGNS,
    ReferenceKind.TYPE: EdgeKind.REFERENCES,
    ReferenceKind.VALUE: EdgeKind.REFERENCES,
}
GROUPS: Mapping[EdgeKind, ReferenceGroup] = {
    EdgeKind.CALLS: ReferenceGroup.CALLERS,
    EdgeKind.IMPORTS: ReferenceGroup.IMPORTS,
    EdgeKind.EXTENDS: ReferenceGroup.SUBTYPES,
    EdgeKind.IMPLEMENTS: ReferenceGroup.SUBTYPES,
    EdgeKind.ASSIGNS: ReferenceGroup.ASSIGNMENTS,
    EdgeKind.REFERENCES: ReferenceGroup.TYPES,
}
ORDER = list(ReferenceGroup)


class Place(NamedTuple):
    """A line of a file."""

    file: SourceFile
    line: int


class Text(NamedTuple):
    """The lines that hold a name, and those of them that no definition and no reference explains."""

    lines: int
    elsewhere: int
    unexplained: Sequence[Place]


def find_edges(definitions: Sequence[Definition], files: Sequence[SourceFile]) -> list[Edge]:
    """Edges to any of the definitions, one a reference, in the order to show them.

    Definitions of one qualified name in one file are one symbol, as are declarations and what they declare.
    """
    name = definitions[0].symbol.name
    known = {
        _symbol_key(Definition(file, symbol))
        for file in files
        for symbol in file.symbols
        if symbol.name == name
    }
    symbols: dict[tuple[str, str], list[Definition]] = {}
    for definition in definitions:
        symbols.setdefault(_symbol_key(definition), []).append(definition)
    best: dict[tuple[str, int], Edge] = {}
    for same in list(symbols.values())[:SYMBOLS_MAX]:
        for edge in Resolver(same, files, is_only_one=len(known) == 1).edges():
            key = (edge.file.id, id(edge.reference))
            if key not in best or _is_surer(edge, best[key]):
                best[key] = edge
    return sorted(best.values(), key=_order)


def group_of(edge: Edge) -> ReferenceGroup:
    """Where it is listed."""
    return ReferenceGroup.TESTS if TEST in edge.file.flags else GROUPS[EDGE_KINDS[edge.reference.kind]]


def count_groups(edges: Iterable[Edge]) -> dict[ReferenceGroup, int]:
    """Edges by group, in the order of groups."""
    counts = Counter(map(group_of, edges))
    return {group: counts[group] for group in ORDER if counts[group]}


def read_text(name: str, files: Sequence[SourceFile], edges: Sequence[Edge]) -> Text:
    """What the text outside of prose says of a name, beside what the parser knows of it."""
    word = word_pattern(name)
    lines = elsewhere = 0
    unexplained: list[Place] = []
    edge_ids = {id(edge.reference) for edge in edges}
    for file in files:
        if PROSE in file.flags:
            continue
        own = [reference for reference in file.references if reference.name == name]
        elsewhere += sum(id(reference) not in edge_ids for reference in own)
        told = {reference.line for reference in own} | {s.name_line for s in file.symbols if s.name == name}
        found = [number for number, line in enumerate(file.lines, 1) if name in line and word.search(line)]
        lines += len(found)
        unexplained += [Place(file, number) for number in found if number not in told]
    return Text(lines, elsewhere, unexplained)


def word_pattern(name: str) -> re.Pattern[str]:
    """The name as a whole word."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _symbol_key(definition: Definition) -> tuple[str, str]:
    """Equal for definitions of one symbol: those of a file, and in C a declaration and its body elsewhere."""
    symbol = definition.symbol
    is_shared = definition.file.file.language in C_FAMILY and not symbol.signature.startswith("static")
    return "" if is_shared else definition.file.id, symbol.qualified_name


def _is_surer(edge: Edge, other: Edge) -> bool:
    return edge.status is EdgeStatus.RESOLVED and other.status is EdgeStatus.CANDIDATE


def _order(edge: Edge) -> tuple[object, ...]:
    is_candidate = edge.status is EdgeStatus.CANDIDATE
    return ORDER.index(group_of(edge)), is_candidate, edge.file.path, edge.file.scope, edge.reference.line
