"""Compiler indexes: where in the repository each name in a file is defined.

Stored in columns, because the index of a large repository has millions of rows. An index records the blob of
each indexed file, and answers nothing about a file whose content differs.
"""

import io
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# The number of a symbol that no file of the repository defines.
OUTSIDE = -1
_END = "\0"

Numbers = NDArray[np.int32]


class DefinitionSite(NamedTuple):
    """The site of a definition: the line of its name, 1-based, in one version of a file."""

    file: str  # id
    blob: str
    line: int
    name: str


class Columns(NamedTuple):
    """The index of a repository. Rows are sorted by file and line.

    Files, names and symbols are numbered from 0. `first_…` has the first row of each file or symbol, and finally the number of rows.
    """

    paths: Sequence[str]
    blobs: Sequence[str]
    names: Sequence[str]
    # Uses of names: one row per name, line and symbol that the name means.
    first_use: Numbers
    use_line: Numbers
    use_name: Numbers
    use_symbol: Numbers
    # Definitions that implement a symbol.
    first_implementation: Numbers
    implementation_line: Numbers
    implementation_name: Numbers
    implementation_symbol: Numbers
    # Definition sites of symbols.
    first_site: Numbers
    site_file: Numbers
    site_line: Numbers
    site_name: Numbers

    def packed(self) -> bytes:
        """Serializes the columns."""
        file = io.BytesIO()
        texts = [_END.join(part).encode() for part in self[:3]]
        np.savez_compressed(file, *(np.frombuffer(text, np.uint8) for text in texts), *self[3:])
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> "Columns":
        """Deserializes the result of `packed`."""
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            parts = [file[name] for name in file.files]
        texts = [part.tobytes().decode() for part in parts[:3]]
        return cls(*(text.split(_END) if text else [] for text in texts), *parts[3:])

    @property
    def size_bytes(self) -> int:
        """The approximate size in memory."""
        texts = sum(len(text) + 60 for part in self[:3] for text in part)
        return texts + sum(part.nbytes for part in self[3:])


class Implementation(NamedTuple):
    """A definition of a file, by line and name, and the definition sites of what it implements."""

    line: int
    name: str
    implemented: Sequence[DefinitionSite]


class OccurrenceIndex:
    """One compiler index of the files of one repository."""

    def __init__(self, columns: Columns, id_of: Callable[[str], str]) -> None:
        """Takes the columns, and a function that returns the file id of a path."""
        self._columns = columns
        self.files: Sequence[str] = [id_of(path) for path in columns.paths]

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {file: number for number, file in enumerate(self.files)}

    @property
    def size_bytes(self) -> int:
        """The approximate size in memory."""
        return self._columns.size_bytes + 200 * len(self.files)

    def has(self, file: str, blob: str) -> bool:
        """Returns whether the index covers a file with this content."""
        number = self._numbers.get(file)
        return number is not None and self._columns.blobs[number] == blob

    def find(self, file: str, blob: str, line: int, name: str) -> Sequence[DefinitionSite] | None:
        """Returns where a name on a line is defined: empty if outside of the repository, None if unknown."""
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
        """Yields what the definitions of a file implement."""
        if self.has(file, blob):
            columns = self._columns
            part = _part(columns.first_implementation, self._numbers[file])
            rows = _rows(
                part, columns.implementation_line, columns.implementation_name, columns.implementation_symbol
            )
            for line, name, symbol in rows:
                yield Implementation(line, columns.names[name], self._sites(symbol))

    def using(self, files: Collection[str]) -> set[str]:
        """Returns the files that use a definition of one of the given files."""
        return self._files_with(self._columns.use_symbol, self._columns.first_use, files)

    def implementing(self, files: Collection[str]) -> set[str]:
        """Returns the files with definitions that implement a definition of one of the given files."""
        columns = self._columns
        return self._files_with(columns.implementation_symbol, columns.first_implementation, files)

    def _files_with(self, row_symbol: Numbers, first_row: Numbers, files: Collection[str]) -> set[str]:
        """Returns the files with a row for a symbol that one of the given files defines."""
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
    """Several compiler indexes: of several repositories or languages."""

    def __init__(self, indexes: Sequence[OccurrenceIndex] = ()) -> None:
        self.indexes = indexes

    def find(self, file: str, blob: str, line: int, name: str) -> Sequence[DefinitionSite] | None:
        """Returns where a name on a line is defined: empty if outside of the repository, None if unknown."""
        known = [index.find(file, blob, line, name) for index in self.indexes]
        known_sites = [sites for sites in known if sites is not None]
        return [spot for sites in known_sites for spot in sites] if known_sites else None

    def using(self, files: Collection[str]) -> set[str]:
        """Returns the files that use a definition of one of the given files."""
        return {found for index in self.indexes for found in index.using(files)}

    def implementing(self, files: Collection[str]) -> set[str]:
        """Returns the files with definitions that implement a definition of one of the given files."""
        return {found for index in self.indexes for found in index.implementing(files)}

    def changed_files(self, other: "Occurrences") -> set[str]:
        """Returns the files of the indexes that only one of the two has."""
        return {file for index in set(self.indexes) ^ set(other.indexes) for file in index.files}

    def implementations(self, file: str, blob: str) -> Sequence[Implementation]:
        """Returns what the definitions of a file implement."""
        return [one for index in self.indexes for one in index.implementations(file, blob)]


def _groups(first: Numbers, rows: NDArray[np.integer]) -> NDArray[np.integer]:
    """Returns the file or symbol of each row."""
    return np.searchsorted(first, rows, side="right") - 1


def _part(first: Numbers, number: int) -> slice:
    return slice(int(first[number]), int(first[number + 1]))


def _rows(part: slice, *columns: Numbers) -> Iterator[tuple[int, int, int]]:
    return zip(*(column[part].tolist() for column in columns), strict=True)
