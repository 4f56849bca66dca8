"""Matrices of vectors, one per row."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


def unit_rows(rows: NDArray[np.floating]) -> Matrix:
    """Returns rows of length one; zero rows stay zero."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    length[length == 0] = 1
    unit: Matrix = np.divide(rows, length, dtype=np.float32)
    return unit
