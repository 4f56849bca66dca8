"""Converts the documents of a SCIP index to columns: where the names on each line are defined.

The documents are read twice, one at a time: definitions first, then uses. Memory grows with the number of
symbols and uses, by a few bytes each.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import ManifestEntry
from prism_resolver.occurrences import OUTSIDE, Columns, Numbers
from prism_scip.scip_pb2 import Document, Occurrence, PositionEncoding, Relationship, SymbolRole
from prism_scip.symbols import ScipName, read_name
from prism_source.paths import path_problem

ROWS_MAX = 20_000_000
# A symbol with more definitions has no single one: a Go package, a namespace.
SPOTS_MAX = 8
NO_FILE = -1
# The source text of what the indexer for ECMAScript calls `<constructor>`.
CONSTRUCTOR = "constructor"
LEFT_OUT_SHOWN_MAX = 20
_ENCODINGS: Mapping[int, str] = {
    PositionEncoding.UTF8CodeUnitOffsetFromLineStart: "utf-8",
    PositionEncoding.UTF16CodeUnitOffsetFromLineStart: "utf-16-le",
    PositionEncoding.UTF32CodeUnitOffsetFromLineStart: "utf-32-le",
}
_UNIT_BYTES: Mapping[str, int] = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}


class LeftOut(StrEnum):
    """Why a document is ignored."""

    OUTSIDE = "outside"  # its path leaves the repository
    NOT_INDEXED = "not_indexed"  # Prism has no such file
    CHANGED = "changed"  # the file has changed since
    REPEATED = "repeated"  # an earlier document has the path


class IndexContent(NamedTuple):
    """The usable content of an index."""

    columns: Columns
    documents: int
    left_out: Mapping[LeftOut, int]
    examples: Sequence[tuple[str, LeftOut]]
    # Occurrences at impossible positions, or with names that are not SCIP symbols.
    unreadable: int


class NamePlace(NamedTuple):
    """The place of a name: 1-based line, column and width in document units; width 0 if it spans lines."""

    line: int
    column: int
    width: int


def read_index(
    documents: Callable[[], Iterator[Document]], entries: Iterable[ManifestEntry], version: int, root: str
) -> IndexContent:
    """Returns the content of an index for the files that have not changed since a version.

    Each call of `documents` reads from the start. `root` is the folder that the paths of the index are
    relative to. Raises PAYLOAD_TOO_LARGE.
    """
    reader = _IndexReader({entry.path: entry for entry in entries}, version, root)
    for document in documents():
        reader.read_definitions(document)
    reader.rewind()
    for document in documents():
        reader.read_uses(document)
    return reader.content()


class _Rows:
    """Rows of three numbers in groups, which are added in ascending order."""

    def __init__(self) -> None:
        self.columns = (array("i"), array("i"), array("i"))
        self._ends: dict[int, int] = {}

    def add(self, *row: int) -> None:
        if len(self.columns[0]) >= ROWS_MAX:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The index has more than {ROWS_MAX} occurrences.",
                "Upload one index per part of the repository.",
                limit=ROWS_MAX,
            )
        for column, number in zip(self.columns, row, strict=True):
            column.append(number)

    def end(self, group: int) -> None:
        self._ends[group] = len(self.columns[0])

    def packed(self, groups: int) -> tuple[Numbers, ...]:
        first = np.zeros(groups + 1, np.int32)
        for group, end in self._ends.items():
            first[group + 1] = end
        return (np.maximum.accumulate(first), *(np.array(column, np.int32) for column in self.columns))


class _IndexReader:
    def __init__(self, entries: Mapping[str, ManifestEntry], version: int, root: str) -> None:
        self._entries = entries
        self._version = version
        self._root = root.strip("/")
        self._files: dict[str, int] = {}
        self._seen: set[str] = set()
        self._names: dict[str, int] = {}
        # Keyed by a 64-bit hash: with a million symbols, two collide in one of 30 million indexes.
        self._symbols: dict[int, int] = {}
        self._undefined: set[int] = set()  # hashes of symbols that an ignored file defines
        self._packages: set[str] = set()
        self._spots: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self._uses, self._implementations = _Rows(), _Rows()
        self._left_out: dict[LeftOut, int] = {}
        self._examples: list[tuple[str, LeftOut]] = []
        self._documents = self._unreadable = 0

    # Definitions.

    def read_definitions(self, document: Document) -> None:
        self._documents += 1
        path, reason = self._place(document)
        if reason:
            self._left_out[reason] = self._left_out.get(reason, 0) + 1
            if len(self._examples) < LEFT_OUT_SHOWN_MAX:
                self._examples.append((document.relative_path, reason))
        else:
            self._files[path] = len(self._files)
        file = NO_FILE if reason else self._files[path]
        for occurrence in document.occurrences:
            if occurrence.symbol_roles & SymbolRole.Definition:
                self._read_definition(document, occurrence, file)

    def _place(self, document: Document) -> tuple[str, LeftOut | None]:
        """Returns the path of a document in the repository, and the reason to ignore it, if any."""
        path = f"{self._root}/{document.relative_path}" if self._root else document.relative_path
        entry = self._entries.get(path)
        if path_problem(path):
            return path, LeftOut.OUTSIDE
        if entry is None or not entry.generation:
            return path, LeftOut.NOT_INDEXED
        if path in self._seen:
            return path, LeftOut.REPEATED
        self._seen.add(path)
        return path, LeftOut.CHANGED if entry.version > self._version else None

    def _read_definition(self, document: Document, occurrence: Occurrence, file: int) -> None:
        name, place = read_name(occurrence.symbol), _place_of(occurrence)
        if name is None:
            return
        self._packages.add(name.package)
        key = hash(occurrence.symbol)
        if place is None:
            self._unreadable += 1
        if file == NO_FILE or place is None:
            self._undefined.add(key)
            return
        symbol = self._symbols.setdefault(key, len(self._symbols))
        self._spots[symbol].append((file, place.line, self._name(_written(name, place.width, document))))

    # Uses.

    def rewind(self) -> None:
        self._seen.clear()

    def read_uses(self, document: Document) -> None:
        path, reason = self._place(document)
        if reason:
            return
        file = self._files[path]
        found: dict[tuple[int, str], dict[int, set[int]]] = {}  # by line and name: symbols by column
        hidden: set[tuple[int, int]] = set()  # line and width of names without a known symbol, such as locals
        for occurrence in document.occurrences:
            if not occurrence.symbol_roles & (SymbolRole.Definition | SymbolRole.ForwardDefinition):
                self._read_use(document, occurrence, found, hidden)
        for (line, name), by_column in sorted(found.items()):
            symbols, *others = by_column.values()
            # Two uses of a name on one line are ambiguous unless they have the same symbols: `rate: rate(1)`.
            if all(other == symbols for other in others) and (line, _width(name, document)) not in hidden:
                for symbol in sorted(symbols):
                    self._uses.add(line, self._name(name), symbol)
        self._uses.end(file)
        self._read_relationships(document, file)
        self._implementations.end(file)

    def _read_use(
        self,
        document: Document,
        occurrence: Occurrence,
        found: dict[tuple[int, str], dict[int, set[int]]],
        hidden: set[tuple[int, int]],
    ) -> None:
        place = _place_of(occurrence)
        if place is None:
            self._unreadable += 1
            return
        name = read_name(occurrence.symbol)
        symbol = self._symbol(occurrence.symbol, name) if name else None
        if name is None or symbol is None:
            hidden.add((place.line, place.width))
            return
        key = place.line, _written(name, place.width, document)
        found.setdefault(key, {}).setdefault(place.column, set()).add(symbol)

    def _symbol(self, symbol: str, name: ScipName) -> int | None:
        """Returns the number of a symbol; OUTSIDE if another package defines it, None if it is unknown."""
        key = hash(symbol)
        if key in self._undefined:
            return None
        number = self._symbols.get(key)
        if number is not None:
            return number if len(self._spots[number]) <= SPOTS_MAX else None
        return None if name.package in self._packages else OUTSIDE

    def _read_relationships(self, document: Document, file: int) -> None:
        for information in document.symbols:
            own = self._symbols.get(hash(information.symbol))
            places = [spot for spot in self._spots[own] if spot[0] == file] if own is not None else []
            for related in filter(_is_implementation, information.relationships):
                implemented = self._symbols.get(hash(related.symbol))
                if implemented is not None and hash(related.symbol) not in self._undefined:
                    for _, line, name in places:
                        self._implementations.add(line, name, implemented)

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    # The result.

    def content(self) -> IndexContent:
        columns = Columns(
            list(self._files),
            [self._entries[path].blob for path in self._files],
            list(self._names),
            *self._uses.packed(len(self._files)),
            *self._implementations.packed(len(self._files)),
            *self._packed_spots(),
        )
        return IndexContent(columns, self._documents, self._left_out, self._examples, self._unreadable)

    def _packed_spots(self) -> tuple[Numbers, ...]:
        rows = _Rows()
        for symbol in range(len(self._symbols)):
            for spot in self._spots[symbol][:SPOTS_MAX]:
                rows.add(*spot)
            rows.end(symbol)
        return rows.packed(len(self._symbols))


def _is_implementation(relationship: Relationship) -> bool:
    return relationship.is_implementation


def _place_of(occurrence: Occurrence) -> NamePlace | None:
    """Returns the place of an occurrence, or None if impossible. SCIP omits the end line if equal."""
    match list(occurrence.range):
        case [line, begin, end] if line >= 0 and 0 <= begin <= end:
            return NamePlace(line + 1, begin, end - begin)
        case [line, begin, last, end] if 0 <= line <= last and begin >= 0 and end >= 0:
            return NamePlace(line + 1, begin, end - begin if line == last else 0)
    return None


def _written(name: ScipName, width: int, document: Document) -> str:
    """Returns the source text of a name. A constructor (`<init>` to indexers) is written as its class."""
    plain = name.name.strip("<>")
    texts = (plain, name.owner) if plain in {name.name, CONSTRUCTOR} else (name.owner, plain)
    return next((text for text in texts if _width(text, document) == width), plain)


def _width(text: str, document: Document) -> int:
    """Returns the width of a text in units of the document: UTF-16 unless it declares another encoding."""
    if text.isascii():
        return len(text)
    encoding = _ENCODINGS.get(document.position_encoding, "utf-16-le")
    return len(text.encode(encoding)) // _UNIT_BYTES[encoding]
