"""Chunks get vectors, in batches across files; questions get vectors at once."""

import asyncio
from collections.abc import Sequence

from prism_contracts import names
from prism_contracts.base import Lane
from prism_contracts.events import FileEmbedded, Vectors
from prism_contracts.rpc import EmbedQueryReply, EmbedQueryRequest
from prism_embedder.conversion import ChunkTexts, embedded_body
from prism_embedder.core.static_model import FileChunks, StaticModel
from prism_runtime import rpc
from prism_runtime.batcher import Batcher
from prism_runtime.bus import Bus
from prism_runtime.vectors import to_message

FILES_PER_BATCH = 16
# A question waits for at most one batch: 64 chunks take the static model some 10 ms.
CHUNKS_PER_BATCH = 64
# So few take less than two milliseconds: handing them to a thread costs more than it lets a question in earlier.
CHUNKS_IN_PLACE_MAX = 16
QUERY_DEADLINE_S = 5.0


class FastHandlers:
    """Reads `FileChunked`, says `FileEmbedded`, answers questions' texts with vectors."""

    def __init__(self, bus: Bus, model: StaticModel, workers: int) -> None:
        self._bus = bus
        self._model = model
        self._workers = workers
        self._batchers: dict[Lane, Batcher[ChunkTexts, Vectors]] = {
            lane: Batcher(
                self._embed,
                items_max=FILES_PER_BATCH,
                weight=lambda file: len(file.chunks),
                weight_max=CHUNKS_PER_BATCH,
            )
            for lane in Lane
        }

    def register(self) -> None:
        """Subscribe."""
        self._bus.consume_bytes(names.FILE_CHUNKED, self.on_chunked, workers=self._workers)
        rpc.serve(
            self._bus, names.RPC_EMBED_QUERY, EmbedQueryRequest, self.query, deadline_s=QUERY_DEADLINE_S
        )

    async def on_chunked(self, lane: Lane, body: bytes) -> None:
        """Embed a file's chunks."""
        event = ChunkTexts.model_validate_json(body)
        vectors = await self._batchers[lane].submit(event)
        embedded = embedded_body(event, body, vectors)
        await self._bus.publish_bytes(names.FILE_EMBEDDED, lane, embedded, event.message_id_of(FileEmbedded))

    async def query(self, request: EmbedQueryRequest) -> EmbedQueryReply:
        """Vectors of questions."""
        rows = self._model.embed_queries(request.texts)
        return EmbedQueryReply(model=self._model.fingerprint, vectors=tuple(map(tuple, rows.tolist())))

    async def _embed(self, files: Sequence[ChunkTexts]) -> list[Vectors | Exception]:
        batch = [FileChunks(file.path, [chunk.text for chunk in file.chunks]) for file in files]
        if sum(len(file.texts) for file in batch) <= CHUNKS_IN_PLACE_MAX:
            rows = self._model.embed_files(batch)
        else:
            # On a thread: a question that comes in meanwhile does not wait for the batch to end.
            rows = await asyncio.to_thread(self._model.embed_files, batch)
        return [to_message(self._model.fingerprint, matrix) for matrix in rows]
