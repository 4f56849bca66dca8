"""A version of a file as it is stored."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ChunkPoint:
    """A chunk as it is stored."""

    id: str
    payload: dict[str, object]


@dataclass(frozen=True)
class FilePoint:
    """A version of a file as it is stored: its own point and those of its chunks."""

    id: str
    version: int
    generation: str
    payload: dict[str, object]
    chunks: tuple[ChunkPoint, ...] = ()
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))
