"""Deep vectors by content: no model embeds the same text twice.

The key covers everything on which a vector depends, so an entry is never stale and may be lost at any time.
Holds hashes of texts, never the texts.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

# 20,000 vectors of 384 values are 30 MB.
ENTRIES_MAX = 20_000


class VectorCache(Protocol):
    """A cache of a model's vectors. A missing vector is not an error."""

    async def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Returns the cached vectors, by key."""
        ...

    async def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Stores the vectors, for as long as the cache can."""
        ...


def vector_key(fingerprint: str, text: str) -> str:
    """Returns the key of a text's vector: SHA-256 (hex) of the model and the text."""
    digest = hashlib.sha256()
    for part in (fingerprint, text):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(
            len(data).to_bytes(8, "little")
        )  # a separator, so that no two pairs have the same bytes
        digest.update(data)
    return digest.hexdigest()


class MemoryVectorCache:
    """A VectorCache in memory that keeps the most recently used entries."""

    def __init__(self, entries_max: int = ENTRIES_MAX) -> None:
        self._entries: OrderedDict[str, Vector] = OrderedDict()
        self._entries_max = entries_max

    async def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """See VectorCache."""
        found = {key: self._entries[key] for key in keys if key in self._entries}
        for key in found:
            self._entries.move_to_end(key)
        return found

    async def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """See VectorCache."""
        for key, vector in vectors.items():
            self._entries[key] = vector.copy()  # a row must not keep its whole batch alive
            self._entries.move_to_end(key)
        while len(self._entries) > self._entries_max:
            self._entries.popitem(last=False)
