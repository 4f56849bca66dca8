"""Vectors as they travel: little-endian float16 rows."""

import numpy as np
from numpy.typing import NDArray

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import Vectors


def float_rows(vectors: Vectors) -> NDArray[np.float32]:
    """The rows, shape (count, dimension). Raises MESSAGE_INVALID if the bytes don't fit the numbers beside them."""
    numbers = np.frombuffer(vectors.data, dtype="<f2")
    if numbers.size != vectors.count * vectors.dimension:
        raise PrismError(
            ErrorCode.MESSAGE_INVALID,
            f"{numbers.size} numbers are not {vectors.count} vectors of {vectors.dimension}.",
        )
    return numbers.astype(np.float32).reshape(vectors.count, vectors.dimension)


def pack_rows(rows: NDArray[np.float32], model: str) -> Vectors:
    """Rows of shape (count, dimension) as they travel."""
    return Vectors(
        model=model,
        dimension=rows.shape[1],
        count=rows.shape[0],
        data=rows.astype("<f2", copy=False).tobytes(),
    )
