"""Deep vectors, filled in behind: chunks that are searchable already, and questions before chunks."""

import asyncio
from functools import partial

import numpy as np

from prism_contracts import names
from prism_contracts.events import DeepEmbedded, DeepEmbeddingRequested
from prism_contracts.rpc import EmbedQueryReply, EmbedQueryRequest
from prism_embedder.adapters.deep import DeepModel
from prism_embedder.core.cache import VectorCache, vector_key
from prism_runtime import rpc
from prism_runtime.bus import Bus
from prism_runtime.vectors import to_message

QUERY_DEADLINE_S = 10.0
FILES_AT_ONCE = 2


class DeepHandlers:
    """Reads `DeepEmbeddingRequested`, says `DeepEmbedded`, answers questions' texts with vectors."""

    def __init__(self, bus: Bus, model: DeepModel, cache: VectorCache) -> None:
        self._bus = bus
        self._model = model
        self._cache = cache

    def register(self) -> None:
        """Subscribe."""
        self._bus.consume(
            names.DEEP_REQUESTED, DeepEmbeddingRequested, self.on_requested, workers=FILES_AT_ONCE
        )
        rpc.serve(
            self._bus, names.RPC_EMBED_DEEP_QUERY, EmbedQueryRequest, self.query, deadline_s=QUERY_DEADLINE_S
        )

    async def on_requested(self, event: DeepEmbeddingRequested) -> None:
        """Embed what no chunk before had the same text and path as."""
        keys = [vector_key(self._model.fingerprint, event.path, text) for text in event.texts]
        known = await self._cache.get_many(keys)
        fresh = {key: text for key, text in zip(keys, event.texts, strict=True) if key not in known}
        if fresh:
            texts = list(fresh.values())
            rows = await asyncio.to_thread(self._model.embed_documents, [event.path] * len(texts), texts)
            made = dict(zip(fresh, rows, strict=True))
            await self._cache.put_many(made)
            known = {**known, **made}
        embedded = DeepEmbedded(
            **event.address,
            point_ids=event.point_ids,
            vectors=to_message(self._model.fingerprint, np.stack([known[key] for key in keys])),
        )
        await self._bus.publish(names.DEEP_EMBEDDED, event.lane, embedded, embedded.message_id)

    async def query(self, request: EmbedQueryRequest) -> EmbedQueryReply:
        """Vectors of questions; they go before chunks that wait."""
        rows = await asyncio.to_thread(partial(self._model.embed_queries, request.texts))
        return EmbedQueryReply(model=self._model.fingerprint, vectors=tuple(map(tuple, rows.tolist())))
