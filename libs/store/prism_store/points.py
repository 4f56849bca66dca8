"""The points of a file version, ready to be stored."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ChunkPoint:
    """The point of a chunk."""

    id: str
    payload: dict[str, object]


@dataclass(frozen=True)
class FilePoint:
    """The point of a file version, with the points of its chunks."""

    id: str
    version: int
    generation: str
    payload: dict[str, object]
    chunks: tuple[ChunkPoint, ...] = ()
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))
