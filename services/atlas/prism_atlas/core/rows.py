"""Rows of numbers, one array a file, and how those of all files become one table."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import NONE, Numbers

# In the place of the position of a symbol that something leads to.
GONE = -2

Rows = NDArray[np.int32]


def rows_of(rows: Iterable[tuple[int, ...]], width: int) -> Rows:
    """Tuples of this width as an array, of none as well."""
    rows = list(rows)
    return np.array(rows, np.int32).reshape(len(rows), width)


def stack(parts: Sequence[Rows], width: int) -> Rows:
    """The rows of all parts."""
    return np.concatenate(parts) if parts else rows_of([], width)


def starts(counts: Sequence[int] | NDArray[np.signedinteger]) -> NDArray[np.int64]:
    """Where each run begins and, last, where all end."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def repeated(parts: Sequence[Rows]) -> Numbers:
    """By row of the stacked parts, the part that it is of."""
    return np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])


def order_by(*columns: Numbers) -> NDArray[np.int64]:
    """Positions in order of columns of 32-bit numbers, the first column first, and of equal ones as they come: `lexsort` the other way
    round. NumPy sorts numbers ten times as fast as it puts positions in order, so number and position are sorted as one.
    """
    positions = np.arange(len(columns[0]))
    order = positions
    for column in reversed(columns):
        keys = column[order].astype(np.int64) << 32 | positions
        keys.sort()
        order = order[keys & 0xFFFFFFFF]
    return order


def nodes(file: Numbers, symbol: Numbers, first_symbol: Numbers) -> Numbers:
    """Nodes of symbols of files; NONE where the file is NONE, or has no such symbol."""
    node = np.where(symbol < 0, first_symbol[-1] + file, first_symbol[file] + symbol)
    there = (file >= 0) & (symbol != GONE) & (symbol < np.diff(first_symbol, append=0)[file])
    return np.where(there, node, NONE).astype(np.int32)
