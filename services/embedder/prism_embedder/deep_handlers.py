"""Deep vectors of files that are searchable already. Questions never wait for them."""

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from prism_contracts.events import Card, DeepEmbedded, DeepEmbeddingRequested, FileVersion
from prism_contracts.rpc.search import EmbedQueryReply, EmbedQueryRequest
from prism_embedder.adapters.deep import DeepModel
from prism_embedder.adapters.kv_cache import KvVectorCache
from prism_embedder.adapters.metrics import EmbeddingMetrics
from prism_embedder.core.cache import vector_key
from prism_embedder.core.rows import Matrix
from prism_runtime.bus import Bus
from prism_runtime.vectors import to_message

TIER = "deep"
NICENESS = 10  # of the threads that embed cards


class DeepEmbeddingHandlers:
    """Consumes `DeepEmbeddingRequested`, publishes `DeepEmbedded`, embeds the texts of questions."""

    def __init__(
        self, bus: Bus, model: DeepModel, cache: KvVectorCache, threads: int, metrics: EmbeddingMetrics
    ) -> None:
        metrics.begin(TIER)
        self._metrics = metrics
        self._bus = bus
        self._model = model
        self._cache = cache
        self._workers = ThreadPoolExecutor(threads, "cards", initializer=_give_way)
        self._threads = threads

    async def on_requested(self, event: DeepEmbeddingRequested) -> None:
        """Embed the cards that are not in the cache."""
        if event.model != self._model.fingerprint:
            return  # requested of an earlier model; for the current one everything is requested again
        embedded = DeepEmbedded(
            tenant=event.tenant,
            files=tuple(FileVersion(file=card.file, generation=card.generation) for card in event.cards),
            vectors=to_message(self._model.fingerprint, await self._rows(event.cards)),
        )
        await self._bus.publish(embedded, lane=event.lane)

    async def query(self, request: EmbedQueryRequest) -> EmbedQueryReply:
        """Embed questions; they do not wait for cards."""
        rows = await asyncio.to_thread(partial(self._model.embed_queries, request.texts))
        return EmbedQueryReply(model=self._model.fingerprint, vectors=tuple(map(tuple, rows.tolist())))

    async def _rows(self, cards: Sequence[Card]) -> Matrix:
        keys = [vector_key(self._model.fingerprint, card.text) for card in cards]
        known = await self._cache.get_many(keys)
        fresh = {key: card.text for key, card in zip(keys, cards, strict=True) if key not in known}
        if fresh:
            with self._metrics.batch(TIER, len(fresh)):
                made = dict(zip(fresh, await self._embed(list(fresh.values())), strict=True))
            await self._cache.put_many(made)
            known = {**known, **made}
        self._metrics.count_reused(TIER, len(cards) - len(fresh))
        return np.stack([known[key] for key in keys])

    async def _embed(self, texts: Sequence[str]) -> Matrix:
        """Returns a share of the texts for each thread."""
        loop = asyncio.get_running_loop()
        shares = [texts[start :: self._threads] for start in range(min(self._threads, len(texts)))]
        parts = await asyncio.gather(
            *(loop.run_in_executor(self._workers, self._model.embed_documents, share) for share in shares)
        )
        rows = np.empty((len(texts), self._model.dimension), np.float32)
        for start, part in enumerate(parts):
            rows[start :: self._threads] = part
        return rows


def _give_way() -> None:
    """Lower the priority of this thread below everything else, where the system has priorities per thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
