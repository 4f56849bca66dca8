"""Builds graphs from files and edges that arrive file by file. The order does not change the graph."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.fixtures import fixture_rows
from prism_atlas.core.graph import (
    EDGE_KINDS,
    EDGE_STATUSES,
    ENTRY_KINDS,
    NONE,
    ROLES,
    STRATEGIES,
    SYMBOL_KINDS,
    Codes,
    EdgeTable,
    EntryTable,
    ExternalTable,
    FileTable,
    Graph,
    Numbers,
    OutsideBaseTable,
    RoleTable,
    StringTable,
    SymbolTable,
)
from prism_atlas.core.overriding import CONSTRUCTOR_NAMES, INHERITS, Pairs, overriding, parameter_counts
from prism_atlas.core.references import (
    NO_REFERENCES,
    FileReferences,
    ReferenceRow,
    alias_table,
    file_references,
    meaning_table,
    reference_table,
)
from prism_atlas.core.roles import Role, RoleRow
from prism_atlas.core.rows import GONE, Rows, nodes, order_by, repeated, rows_of, stack, starts
from prism_atlas.core.structural import implied_overrides
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolFact
from prism_contracts.rpc.maps import EntryKind
from prism_resolver.unit import is_shared

_KIND_CODES = {kind: code for code, kind in enumerate(SYMBOL_KINDS)}
_EDGE_CODES = {kind: code for code, kind in enumerate(EDGE_KINDS)}
_OVERRIDES = _EDGE_CODES[EdgeKind.OVERRIDES]
_STATUS_CODES = {status: code for code, status in enumerate(EDGE_STATUSES)}
_ENTRY_CODES = {kind: code for code, kind in enumerate(ENTRY_KINDS)}
_ROLE_CODES = {role: code for code, role in enumerate(ROLES)}
_STRATEGY_CODES = {strategy: code for code, strategy in enumerate(STRATEGIES)}

SYMBOL_TEXTS = 3  # the first columns of a symbol's row are strings
SYMBOL_COLUMNS = 11
EDGE_COLUMNS = 7
EXTERNAL_COLUMNS = 2
OUTSIDE_BASE_COLUMNS = 5
ENTRY_COLUMNS = 3
ROLE_COLUMNS = 3


class FileRow(NamedTuple):
    """A file without its symbols; columns as in `FileTable`."""

    lines: int
    path: str
    id: str
    generation: str = ""
    language: str = ""
    flags: str = ""


class EdgeRow(NamedTuple):
    """A resolved reference of a file. A symbol is its position in its file; NONE means the file itself."""

    source: int
    target: tuple[str, int]  # id of a file, position of its symbol
    kind: EdgeKind
    status: EdgeStatus
    strategy: Strategy
    line: int


class EntryRow(NamedTuple):
    """An entry point of a file. A symbol is its position in its file; NONE means the file itself."""

    symbol: int
    kind: EntryKind
    line: int


class ExternalRow(NamedTuple):
    """An import that resolves to no file of the repository."""

    module: str
    line: int


class OutsideBaseRow(NamedTuple):
    """A declared supertype that the repository does not define, as in `OutsideBaseTable`."""

    symbol: int
    name: str
    module: str
    line: int
    kind: EdgeKind


class GraphBuilder:
    """Takes files and edges, returns graphs. Its state is kept, so that the next graph costs little."""

    def __init__(self) -> None:
        # Numbers of strings and of files; valid for the life of the builder.
        self._strings: dict[str, int] = {"": 0}
        self._in_order: list[int] = []  # numbers of strings, sorted by their text, as far as sorted
        self._sizes: list[int] = []  # of strings in bytes, as far as measured
        self._serials: dict[str, int] = {}
        # By file id.
        self._files: dict[str, Rows] = {}
        self._symbols: dict[str, Rows] = {}
        self._entries: dict[str, Rows] = {}
        self._roles: dict[str, Rows] = {}
        self._edges: dict[str, Rows] = {}
        self._externals: dict[str, Rows] = {}
        self._outside_bases: dict[str, Rows] = {}
        self._references: dict[str, FileReferences] = {}

    def add(
        self,
        file: FileRow,
        symbols: Sequence[Symbol | SymbolFact],
        entries: Iterable[EntryRow] = (),
        contracts: Sequence[str] = (),
        roles: Iterable[RoleRow] = (),
    ) -> None:
        """Add or replace a file with its symbols, entry points and roles.

        `contracts` are those of all its symbols, if any.
        """
        texts = [self._string(text) for text in file[1:]]
        every = zip(symbols, contracts or repeat(""), strict=False)
        rows = rows_of((self._symbol(*one, file.language) for one in every), SYMBOL_COLUMNS)
        before = self._symbols.get(file.id)
        if before is not None and file.id in self._serials:
            self._remap_targets(self._serials[file.id], _symbol_moves(before, rows))
        self._files[file.id] = rows_of([(file.lines, *texts)], len(FileRow._fields))
        self._symbols[file.id] = rows
        found = [(entry.symbol, _ENTRY_CODES[entry.kind], entry.line) for entry in entries]
        self._entries[file.id] = rows_of(found, ENTRY_COLUMNS)
        own = [(role.symbol, _ROLE_CODES[role.role], self._string(role.name)) for role in roles]
        self._roles[file.id] = rows_of(own, ROLE_COLUMNS)

    def connect(
        self,
        file: str,
        edges: Iterable[EdgeRow],
        externals: Iterable[ExternalRow] = (),
        references: Iterable[ReferenceRow] = (),
        outside_bases: Iterable[OutsideBaseRow] = (),
    ) -> None:
        """Replace all edges that leave a file, its external imports, its references and its supertypes outside."""
        self._edges[file] = rows_of((self._edge(edge) for edge in edges), EDGE_COLUMNS)
        external_rows = [(self._string(module), line) for module, line in externals]
        self._externals[file] = rows_of(external_rows, EXTERNAL_COLUMNS)
        bases = [
            (one.symbol, self._string(one.name), self._string(one.module), one.line, _EDGE_CODES[one.kind])
            for one in outside_bases
        ]
        self._outside_bases[file] = rows_of(bases, OUTSIDE_BASE_COLUMNS)
        self._references[file] = file_references(references, self._string, self._serial)

    def remove(self, file: str) -> None:
        """Remove a file."""
        self._references.pop(file, None)
        self._externals.pop(file, None)
        self._outside_bases.pop(file, None)
        for table in (self._files, self._symbols, self._entries, self._roles, self._edges):
            table.pop(file, None)

    def build(self) -> Graph:
        """Returns the graph of the current files. Edges to missing nodes are omitted."""
        texts = list(self._strings)
        ids = sorted(self._files, key=lambda file: texts[self._files[file][0, 1]])
        files = stack([self._files[file] for file in ids], len(FileRow._fields))
        symbols = stack([self._symbols[file] for file in ids], SYMBOL_COLUMNS)
        first_symbol = starts([len(self._symbols[file]) for file in ids]).astype(np.int32)
        external_rows = [self._externals.get(file, rows_of([], EXTERNAL_COLUMNS)) for file in ids]
        externals = stack(external_rows, EXTERNAL_COLUMNS)
        base_rows = [self._outside_bases.get(file, rows_of([], OUTSIDE_BASE_COLUMNS)) for file in ids]
        outside_bases = stack(base_rows, OUTSIDE_BASE_COLUMNS)
        references = [self._references.get(file, NO_REFERENCES) for file in ids]
        used = (
            files[:, 1:],
            symbols[:, :SYMBOL_TEXTS],
            externals[:, 0],
            outside_bases[:, 1:3],
            *(part.references[:, 1] for part in references),
            *(part.aliases[:, 1:] for part in references),
        )
        is_used = np.zeros(len(texts), np.bool_)
        is_used[0] = True
        for column in used:
            is_used[column] = True
        strings, numbers = _string_table(texts, self._sizes_of(texts), self._ordered(texts), is_used)
        symbol_table = _symbol_table(symbols, numbers, first_symbol)
        by_serial = self._positions(ids)
        edge_rows = self._edge_rows(ids, by_serial, first_symbol)
        constructors = numbers[
            [self._strings[name] for name in sorted(CONSTRUCTOR_NAMES) if name in self._strings]
        ]
        languages = numbers[files[:, FileRow._fields.index("language")]]
        counts = parameter_counts(strings, symbol_table.file, symbol_table.contract, languages)
        overrides = _override_rows(symbol_table, edge_rows, constructors, counts)
        roles = _role_rows([self._roles[file] for file in ids], first_symbol)
        paths = [texts[self._files[file][0, 1]] for file in ids]
        requests = fixture_rows(symbol_table, paths, roles, edge_rows)
        rows = np.concatenate([edge_rows, overrides, requests])
        node_count = len(symbols) + len(ids)
        graph = Graph(
            strings,
            _file_table(files, numbers, first_symbol),
            symbol_table,
            edge_table(rows, node_count),
            reference_table(references, numbers, first_symbol),
            meaning_table(references, by_serial, first_symbol),
            alias_table(references, numbers),
            _external_table(externals, numbers, [len(part) for part in external_rows]),
            _outside_base_table(base_rows, numbers, first_symbol),
            _entry_table([self._entries[file] for file in ids], first_symbol),
            _role_table(roles),
        )
        implied = _implied_rows(graph)
        if not len(implied):
            return graph
        return replace(graph, edges=edge_table(np.concatenate([rows, implied]), node_count))

    def _remap_targets(self, serial: int, moves: Numbers) -> None:
        """Make edges and references that point to a file's symbols follow them to their new positions."""
        if np.array_equal(moves, np.arange(len(moves))):
            return
        for rows in (*self._edges.values(), *(one.meanings for one in self._references.values())):
            leading = np.flatnonzero((rows[:, 1] == serial) & (rows[:, 2] >= 0))
            rows[leading, 2] = moves[rows[leading, 2]]

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _serial(self, file: str) -> int:
        return self._serials.setdefault(file, len(self._serials))

    def _symbol(self, symbol: Symbol | SymbolFact, contract: str, language: str) -> tuple[int, ...]:
        return (
            self._string(symbol.name),
            self._string(symbol.qualified_name),
            self._string(contract),
            _KIND_CODES[symbol.kind],
            symbol.start_line,
            symbol.end_line,
            symbol.name_line,
            symbol.exported,
            symbol.parent,
            symbol.bodiless,
            is_shared(language, symbol.signature),
        )

    def _edge(self, edge: EdgeRow) -> tuple[int, ...]:
        file, symbol = edge.target
        return (
            edge.source,
            self._serial(file),
            symbol,
            _EDGE_CODES[edge.kind],
            _STATUS_CODES[edge.status],
            _STRATEGY_CODES[edge.strategy],
            edge.line,
        )

    def _ordered(self, texts: Sequence[str]) -> Numbers:
        """Returns the positions of all strings in sorted order. Most are in order already, so this is nearly linear."""
        self._in_order += range(len(self._in_order), len(texts))
        self._in_order.sort(key=texts.__getitem__)  # code points sort as their UTF-8 does
        return np.array(self._in_order, np.int32)

    def _sizes_of(self, texts: Sequence[str]) -> Numbers:
        """Returns the size of each string in bytes. Most were measured before."""
        self._sizes += [len(text.encode()) for text in texts[len(self._sizes) :]]
        return np.array(self._sizes, np.int32)

    def _positions(self, ids: Sequence[str]) -> Numbers:
        """Returns by serial of a file its position in `ids`, or NONE."""
        position = {file: position for position, file in enumerate(ids)}
        return np.array([position.get(file, NONE) for file in self._serials], np.int32)

    def _edge_rows(self, ids: Sequence[str], by_serial: Numbers, first_symbol: Numbers) -> Rows:
        """Returns the edges that have both ends: source, target, kind, status, strategy, line."""
        parts = [self._edges.get(file, rows_of([], EDGE_COLUMNS)) for file in ids]
        rows = stack(parts, EDGE_COLUMNS)
        source_file = repeated(parts)
        target_file = by_serial[rows[:, 1]]
        source = nodes(source_file, rows[:, 0], first_symbol)
        target = nodes(target_file, rows[:, 2], first_symbol)
        there = np.flatnonzero((source != NONE) & (target != NONE))
        return np.column_stack([source[there], target[there], rows[there, 3:]])


def _symbol_moves(before: Rows, after: Rows) -> Numbers:
    """Returns the new position of each old symbol: same qualified name and kind; GONE if there is none."""
    now = {symbol: position for position, symbol in enumerate(_occurrences(after))}
    return np.array([now.get(symbol, GONE) for symbol in _occurrences(before)], np.int32)


def _occurrences(rows: Rows) -> Iterator[tuple[int, int, int]]:
    """Yields the qualified name and kind of each symbol, and how many equal ones come before it."""
    seen: dict[tuple[int, int], int] = {}
    for qualified_name, kind in rows[:, [1, 3]].tolist():
        count = seen.get((qualified_name, kind), 0)
        seen[qualified_name, kind] = count + 1
        yield qualified_name, kind, count


def _string_table(
    texts: Sequence[str], sizes: Numbers, ordered: Numbers, is_used: NDArray[np.bool_]
) -> tuple[StringTable, Numbers]:
    """Returns the table of used strings, and the number in that table by position in `texts`."""
    order = ordered[is_used[ordered]]
    encoded = "".join(map(texts.__getitem__, order.tolist())).encode()
    numbers = np.full(len(texts), NONE, np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return StringTable(np.frombuffer(encoded, np.uint8), starts(sizes[order])[1:]), numbers


def _file_table(rows: Rows, numbers: Numbers, first_symbol: Numbers) -> FileTable:
    texts = {name: numbers[rows[:, column]] for column, name in enumerate(FileRow._fields[1:], start=1)}
    return FileTable(lines=rows[:, 0].copy(), first_symbol=first_symbol, **texts)


def _symbol_table(rows: Rows, numbers: Numbers, first_symbol: Numbers) -> SymbolTable:
    name, qualified_name = numbers[rows[:, 0]], numbers[rows[:, 1]]
    counts = np.diff(first_symbol)
    file = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return SymbolTable(
        file=file,
        name=name,
        qualified_name=qualified_name,
        contract=numbers[rows[:, 2]],
        kind=rows[:, 3].astype(np.uint8),
        start_line=rows[:, 4].copy(),
        end_line=rows[:, 5].copy(),
        name_line=rows[:, 6].copy(),
        exported=rows[:, 7].astype(np.bool_),
        bodiless=rows[:, 9].astype(np.bool_),
        shared=rows[:, 10].astype(np.bool_),
        parent=np.where(rows[:, 8] < 0, NONE, first_symbol[file] + rows[:, 8]).astype(np.int32),
        by_name=order_by(name).astype(np.int32),
        by_qualified_name=order_by(qualified_name).astype(np.int32),
    )


def _external_table(rows: Rows, numbers: Numbers, counts: Sequence[int]) -> ExternalTable:
    file = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    order = order_by(file, rows[:, 1])
    return ExternalTable(
        file=file,
        module=numbers[rows[order, 0]],
        line=rows[order, 1],
        first=starts(counts).astype(np.int32),
    )


def _outside_base_table(parts: Sequence[Rows], numbers: Numbers, first_symbol: Numbers) -> OutsideBaseTable:
    rows = stack(parts, OUTSIDE_BASE_COLUMNS)
    node, name = nodes(repeated(parts), rows[:, 0], first_symbol), numbers[rows[:, 1]]
    order = order_by(name, node, rows[:, 3])
    return OutsideBaseTable(
        node=node[order],
        name=name[order],
        module=numbers[rows[order, 2]],
        line=rows[order, 3],
        kind=rows[order, 4].astype(np.uint8),
    )


def _entry_table(parts: Sequence[Rows], first_symbol: Numbers) -> EntryTable:
    rows = stack(parts, ENTRY_COLUMNS)
    file = repeated(parts)
    node = nodes(file, rows[:, 0], first_symbol)
    order = order_by(node, rows[:, 1])
    return EntryTable(node=node[order], kind=rows[order, 1].astype(np.uint8), line=rows[order, 2])


def _role_rows(parts: Sequence[Rows], first_symbol: Numbers) -> Rows:
    """Returns node, role and name of every role."""
    rows = stack(parts, ROLE_COLUMNS)
    return np.column_stack([nodes(repeated(parts), rows[:, 0], first_symbol), rows[:, 1:]]).astype(np.int32)


def _role_table(rows: Rows) -> RoleTable:
    kept = rows[rows[:, 1] != _ROLE_CODES[Role.REQUEST]]
    return RoleTable(node=kept[:, 0].copy(), role=kept[:, 1].astype(np.uint8))


def _override_rows(symbols: SymbolTable, edge_rows: Rows, constructors: Numbers, counts: Numbers) -> Rows:
    """Returns edge rows of overriding members, except those that an index reported."""
    below, above, kind, status = edge_rows.T[:4]
    inherits = INHERITS[kind]
    inheriting = Pairs(below[inherits], above[inherits], status[inherits].astype(np.uint8))
    found = overriding(symbols, constructors, inheriting, counts).without(edge_rows[kind == _OVERRIDES])
    return _rows_of_overrides(symbols, found.below, found.above, found.status)


def _implied_rows(graph: Graph) -> Rows:
    """Returns edge rows of the methods that implement one of an interface implicitly, as in Go."""
    below, above = implied_overrides(graph).T
    edges = graph.edges
    is_override = edges.kind == _OVERRIDES
    known = np.column_stack([edges.source[is_override], edges.target[is_override]])
    resolved = np.full(len(below), _STATUS_CODES[EdgeStatus.RESOLVED], np.uint8)
    found = Pairs(below, above, resolved).without(known)
    return _rows_of_overrides(graph.symbols, found.below, found.above, found.status)


def _rows_of_overrides(symbols: SymbolTable, below: Numbers, above: Numbers, status: Codes) -> Rows:
    rows = np.empty((len(below), EDGE_COLUMNS - 1), np.int32)  # nodes instead of files and positions
    rows[:, 0], rows[:, 1], rows[:, 3] = below, above, status
    rows[:, 2] = _OVERRIDES
    rows[:, 4] = _STRATEGY_CODES[Strategy.INHERITED]
    rows[:, 5] = symbols.name_line[below]
    return rows


def edge_table(rows: Rows, node_count: int) -> EdgeTable:
    source, target, kind, status, strategy, line = np.ascontiguousarray(rows.T)
    order = order_by(source, line, target, strategy << 16 | status << 8 | kind)
    source, target = source[order], target[order]
    return EdgeTable(
        source=source,
        target=target,
        kind=kind[order].astype(np.uint8),
        status=status[order].astype(np.uint8),
        strategy=strategy[order].astype(np.uint8),
        line=line[order],
        first_out=starts(np.bincount(source, minlength=node_count)),
        first_in=starts(np.bincount(target, minlength=node_count)),
        by_target=order_by(target).astype(np.int32),
    )
