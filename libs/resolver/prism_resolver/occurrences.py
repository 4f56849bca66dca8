"""What compilers' indexes say of the names in files: where in the repository each is defined.

Kept in columns, for an index of a large repository has millions of rows. Of each file the blob is known that was indexed: of
another content nothing is said, neither of what it uses nor of what it defines.
"""

import io
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# In the place of a symbol that no file of the repository defines.
OUTSIDE = -1
_END = "\0"

Numbers = NDArray[np.int32]


class DefinitionSite(NamedTuple):
    """Where something is defined: the line of its name, 1-based, in a file of some content."""

    file: str  # id
    blob: str
    line: int
    name: str


class Columns(NamedTuple):
    """An index of one repository. Rows are in order of file and line; files, names and symbols are numbered from 0.

    `first_…` has a position for each file or symbol and, last, where all end.
    """

    paths: Sequence[str]
    blobs: Sequence[str]
    names: Sequence[str]
    # Names as they are used: a row a name, a line and a symbol that it means.
    first_use: Numbers
    use_line: Numbers
    use_name: Numbers
    use_symbol: Numbers
    # Definitions that implement what a symbol is.
    first_implementation: Numbers
    implementation_line: Numbers
    implementation_name: Numbers
    implementation_symbol: Numbers
    # Where symbols are defined.
    first_site: Numbers
    site_file: Numbers
    site_line: Numbers
    site_name: Numbers

    def packed(self) -> bytes:
        """As a file."""
        file = io.BytesIO()
        texts = [_END.join(part).encode() for part in self[:3]]
        np.savez_compressed(file, *(np.frombuffer(text, np.uint8) for text in texts), *self[3:])
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> "Columns":
        """Back from `packed`."""
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            parts = [file[name] for name in file.files]
        texts = [part.tobytes().decode() for part in parts[:3]]
        return cls(*(text.split(_END) if text else [] for text in texts), *parts[3:])

    @property
    def size_bytes(self) -> int:
        """What it takes in memory, about."""
        texts = sum(len(text) + 60 for part in self[:3] for text in part)
        return texts + sum(part.nbytes for part in self[3:])


class Implementation(NamedTuple):
    """A definition of a file, by line and name, and where that is defined which it implements."""

    line: int
    name: str
    implemented: Sequence[DefinitionSite]


class OccurrenceIndex:
    """What one index says of the files of one repository."""

    def __init__(self, columns: Columns, id_of: Callable[[str], str]) -> None:
        """`id_of` gives the id of the file of a path."""
        self._columns = columns
        self.files: Sequence[str] = [id_of(path) for path in columns.paths]

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {file: number for number, file in enumerate(self.files)}

    @property
    def size_bytes(self) -> int:
        """What it takes in memory, about."""
        return self._columns.size_bytes + 200 * len(self.files)

    def has(self, file: str, blob: str) -> bool:
        """Whether it speaks of a file of this content."""
        number = self._numbers.get(file)
        return number is not None and self._columns.blobs[number] == blob

    def find(self, file: str, blob: str, line: int, name: str) -> Sequence[DefinitionSite] | None:
        """Where a name on a line of a file is defined: nowhere if it is outside of the repository; None if that is not known."""
        if not self.has(file, blob):
            return None
        columns, number = self._columns, self._numbers[file]
        end = int(columns.first_use[number + 1])
        at = bisect_left(columns.use_line, line, int(columns.first_use[number]), end)
        found: list[DefinitionSite] | None = None
        while at < end and columns.use_line[at] == line:
            if columns.names[columns.use_name[at]] == name:
                found = [*(found or ()), *self._sites(int(columns.use_symbol[at]))]
            at += 1
        return found

    def implementations(self, file: str, blob: str) -> Iterator[Implementation]:
        """What definitions of a file implement."""
        if self.has(file, blob):
            columns = self._columns
            part = _part(columns.first_implementation, self._numbers[file])
            rows = _rows(
                part, columns.implementation_line, columns.implementation_name, columns.implementation_symbol
            )
            for line, name, symbol in rows:
                yield Implementation(line, columns.names[name], self._sites(symbol))

    def using(self, files: Collection[str]) -> set[str]:
        """The files that use what one of these defines."""
        return self._files_with(self._columns.use_symbol, self._columns.first_use, files)

    def implementing(self, files: Collection[str]) -> set[str]:
        """The files that have definitions which implement what one of these defines."""
        columns = self._columns
        return self._files_with(columns.implementation_symbol, columns.first_implementation, files)

    def _files_with(self, row_symbol: Numbers, first_row: Numbers, files: Collection[str]) -> set[str]:
        """The files that have a row of a symbol which one of these files defines."""
        columns = self._columns
        numbers = [self._numbers[file] for file in files if file in self._numbers]
        sites = np.flatnonzero(np.isin(columns.site_file, numbers))
        rows = np.flatnonzero(np.isin(row_symbol, _groups(columns.first_site, sites)))
        return {self.files[one] for one in np.unique(_groups(first_row, rows)).tolist()}

    def _sites(self, symbol: int) -> Sequence[DefinitionSite]:
        if symbol == OUTSIDE:
            return ()
        columns = self._columns
        part = _part(columns.first_site, symbol)
        rows = _rows(part, columns.site_file, columns.site_line, columns.site_name)
        return [
            DefinitionSite(self.files[file], columns.blobs[file], line, columns.names[name])
            for file, line, name in rows
        ]


class Occurrences:
    """What several indexes say: of several repositories, or languages."""

    def __init__(self, indexes: Sequence[OccurrenceIndex] = ()) -> None:
        self.indexes = indexes

    def find(self, file: str, blob: str, line: int, name: str) -> Sequence[DefinitionSite] | None:
        """Where a name on a line of a file is defined: nowhere if it is outside of the repository; None if that is not known."""
        known = [index.find(file, blob, line, name) for index in self.indexes]
        known_sites = [sites for sites in known if sites is not None]
        return [spot for sites in known_sites for spot in sites] if known_sites else None

    def using(self, files: Collection[str]) -> set[str]:
        """The files that use what one of these defines."""
        return {found for index in self.indexes for found in index.using(files)}

    def implementing(self, files: Collection[str]) -> set[str]:
        """The files that have definitions which implement what one of these defines."""
        return {found for index in self.indexes for found in index.implementing(files)}

    def changed_files(self, other: "Occurrences") -> set[str]:
        """The files of the indexes that only one of both has."""
        return {file for index in set(self.indexes) ^ set(other.indexes) for file in index.files}

    def implementations(self, file: str, blob: str) -> Sequence[Implementation]:
        """What definitions of a file implement."""
        return [one for index in self.indexes for one in index.implementations(file, blob)]


def _groups(first: Numbers, rows: NDArray[np.integer]) -> NDArray[np.integer]:
    """The file or symbol that each row is of."""
    return np.searchsorted(first, rows, side="right") - 1


def _part(first: Numbers, number: int) -> slice:
    return slice(int(first[number]), int(first[number + 1]))


def _rows(part: slice, *columns: Numbers) -> Iterator[tuple[int, int, int]]:
    return zip(*(column[part].tolist() for column in columns), strict=True)
