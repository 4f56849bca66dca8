"""Builds the tables of references, meanings and aliases from the rows of each file."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import (
    EDGE_STATUSES,
    LOOKUP_KINDS,
    NONE,
    REFERENCE_KINDS,
    STRATEGIES,
    AliasTable,
    MeaningTable,
    Numbers,
    ReferenceTable,
)
from prism_atlas.core.rows import Rows, nodes, order_by, repeated, rows_of, stack, starts
from prism_contracts.code import Reference
from prism_resolver.resolution import Meaning
from prism_resolver.unit import given_name

REFERENCE_COLUMNS = 4
MEANING_COLUMNS = 3
ALIAS_COLUMNS = 3

_KIND_CODES = {kind: code for code, kind in enumerate(REFERENCE_KINDS)}
_STATUS_CODES = {status: code for code, status in enumerate(EDGE_STATUSES)}
_STRATEGY_CODES = {strategy: code for code, strategy in enumerate(STRATEGIES)}
_LOOKUP_CODES = {lookup: code for code, lookup in enumerate(LOOKUP_KINDS)}


class ReferenceRow(NamedTuple):
    """A reference of a file with what it resolves to."""

    reference: Reference
    meaning: Meaning


class FileReferences(NamedTuple):
    """The references of one file as numbers. A symbol is its position in its file; NONE means the file."""

    # Symbol, string of the name, line, and `_codes`.
    references: Rows
    meanings: Rows  # row of the reference, serial of a file, symbol
    aliases: Rows  # row of the reference, strings of a name and of its alias


NO_REFERENCES = FileReferences(
    rows_of([], REFERENCE_COLUMNS), rows_of([], MEANING_COLUMNS), rows_of([], ALIAS_COLUMNS)
)


def file_references(
    rows: Iterable[ReferenceRow], string: Callable[[str], int], serial: Callable[[str], int]
) -> FileReferences:
    """Returns the rows of a file. `string` and `serial` number strings and file ids."""
    rows = list(rows)
    return FileReferences(
        rows_of((_row(row, string) for row in rows), REFERENCE_COLUMNS),
        rows_of(
            (
                (position, serial(place.file), place.symbol)
                for position, row in enumerate(rows)
                for place in row.meaning.targets
                if place.symbol >= 0
            ),
            MEANING_COLUMNS,
        ),
        rows_of(
            (
                (position, string(row.reference.name), string(given_name(row.reference.alias)))
                for position, row in enumerate(rows)
                if row.reference.alias
            ),
            ALIAS_COLUMNS,
        ),
    )


def reference_table(
    parts: Sequence[FileReferences], numbers: Numbers, first_symbol: Numbers
) -> ReferenceTable:
    """Returns the references of all files, in the order of `parts`. `numbers` maps strings to the graph's."""
    rows = stack([part.references for part in parts], REFERENCE_COLUMNS)
    file = repeated([part.references for part in parts])
    name = numbers[rows[:, 1]]
    codes = np.ascontiguousarray(rows[:, 3]).view(np.uint8).reshape(-1, 4)
    return ReferenceTable(
        source=nodes(file, rows[:, 0], first_symbol),
        name=name,
        line=rows[:, 2].copy(),
        kind=codes[:, 0].copy(),
        status=codes[:, 1].copy(),
        strategy=codes[:, 2].copy(),
        sought=(codes[:, 3] >> 1).astype(np.uint8),
        has_qualifier=(codes[:, 3] & 1).astype(np.bool_),
        by_name=order_by(name).astype(np.int32),
    )


def meaning_table(parts: Sequence[FileReferences], by_serial: Numbers, first_symbol: Numbers) -> MeaningTable:
    """Returns the meanings whose target exists. `by_serial` has the positions of files."""
    rows = stack([part.meanings for part in parts], MEANING_COLUMNS)
    reference = _references(rows, parts, [len(part.meanings) for part in parts])
    target = nodes(by_serial[rows[:, 1]], rows[:, 2], first_symbol)
    there = np.flatnonzero(target != NONE)
    order = there[order_by(target[there])]  # references are in order already
    return MeaningTable(target=target[order], reference=reference[order])


def alias_table(parts: Sequence[FileReferences], numbers: Numbers) -> AliasTable:
    """Returns the aliases that references introduce."""
    rows = stack([part.aliases for part in parts], ALIAS_COLUMNS)
    reference = _references(rows, parts, [len(part.aliases) for part in parts])
    name, alias = numbers[rows[:, 1]], numbers[rows[:, 2]]
    order = order_by(alias)  # references are in order already
    return AliasTable(name=name[order], alias=alias[order], reference=reference[order])


def _references(rows: Rows, parts: Sequence[FileReferences], counts: Sequence[int]) -> Numbers:
    """Returns by row its reference among those of all files.

    The first column has the reference's position in its file; `counts` has the rows per file.
    """
    first = starts([len(part.references) for part in parts])[:-1]
    return (rows[:, 0] + np.repeat(first, counts)).astype(np.int32)


def _row(row: ReferenceRow, string: Callable[[str], int]) -> tuple[int, ...]:
    reference, meaning = row
    return (
        reference.symbol,
        string(reference.name),
        reference.line,
        _codes(reference, meaning),
    )


def _codes(reference: Reference, meaning: Meaning) -> int:
    """Packs a byte each, lowest first: kind, status, strategy, lookup kind with the qualifier flag."""
    lookup = _LOOKUP_CODES[meaning.lookup] << 1 | bool(reference.qualifier)
    return (
        _KIND_CODES[reference.kind]
        | _STATUS_CODES[meaning.status] << 8
        | _STRATEGY_CODES[meaning.strategy] << 16
        | lookup << 24
    )
