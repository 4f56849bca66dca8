"""Arrays of rows, one per file, and functions that combine them into tables."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import NONE, Numbers

# Position of a target symbol that was removed.
GONE = -2

Rows = NDArray[np.int32]


def rows_of(rows: Iterable[tuple[int, ...]], width: int) -> Rows:
    """Returns tuples of this width as an array, also if there are none."""
    rows = list(rows)
    return np.array(rows, np.int32).reshape(len(rows), width)


def stack(parts: Sequence[Rows], width: int) -> Rows:
    """Returns the rows of all parts."""
    return np.concatenate(parts) if parts else rows_of([], width)


def starts(counts: Sequence[int] | NDArray[np.signedinteger]) -> NDArray[np.int64]:
    """Returns where each run begins and, last, where all end."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def repeated(parts: Sequence[Rows]) -> Numbers:
    """Returns by row of the stacked parts the part that it came from."""
    return np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])


def order_by(*columns: Numbers) -> NDArray[np.int64]:
    """Returns the stable order by 32-bit columns, the first column first: the reverse of `lexsort`.

    NumPy sorts numbers ten times as fast as it computes an order, so it sorts number and position as one.
    """
    positions = np.arange(len(columns[0]))
    order = positions
    for column in reversed(columns):
        keys = column[order].astype(np.int64) << 32 | positions
        keys.sort()
        order = order[keys & 0xFFFFFFFF]
    return order


def nodes(file: Numbers, symbol: Numbers, first_symbol: Numbers) -> Numbers:
    """Returns nodes of symbols of files; NONE where the file is NONE or lacks the symbol."""
    node = np.where(symbol < 0, first_symbol[-1] + file, first_symbol[file] + symbol)
    there = (file >= 0) & (symbol != GONE) & (symbol < np.diff(first_symbol, append=0)[file])
    return np.where(there, node, NONE).astype(np.int32)
