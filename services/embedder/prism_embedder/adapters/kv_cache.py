"""Deep vectors by content hash in a JetStream key-value bucket: no text is embedded twice."""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np
from nats.js.errors import KeyNotFoundError
from nats.js.kv import KeyValue

from prism_embedder.core.cache import Vector


class KvVectorCache:
    """Cached vectors, stored as little-endian float16. A missing one is not an error."""

    def __init__(self, bucket: KeyValue) -> None:
        self._bucket = bucket

    async def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Returns the cached vectors by key."""
        found = await asyncio.gather(*(self._get(key) for key in keys))
        return {key: vector for key, vector in zip(keys, found, strict=True) if vector is not None}

    async def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Store vectors."""
        await asyncio.gather(
            *(self._bucket.put(key, vector.astype("<f2").tobytes()) for key, vector in vectors.items())
        )

    async def _get(self, key: str) -> Vector | None:
        try:
            entry = await self._bucket.get(key)
        except KeyNotFoundError:
            return None
        return None if entry.value is None else np.frombuffer(entry.value, "<f2").astype(np.float32)
