"""Chunks get vectors, in batches across files."""

from collections.abc import Sequence

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_contracts import topics
from prism_contracts.base import Lane
from prism_contracts.events import FileEmbedded, Vectors
from prism_embedder.adapters.metrics import EmbeddingMetrics
from prism_embedder.conversion import ChunkTexts, embedded_body
from prism_model.static_model import FileChunks, StaticModel
from prism_runtime import tracing
from prism_runtime.batcher import Batcher
from prism_runtime.bus import Bus
from prism_runtime.vectors import to_message

TIER = "fast"
FILES_PER_BATCH = 16
# A live edit waits for at most one batch: 64 chunks take the static model some 10 ms.
CHUNKS_PER_BATCH = 64


class FastHandlers:
    """Consumes `FileChunked`, publishes `FileEmbedded`."""

    def __init__(
        self, bus: Bus, model: StaticModel, cancelled: CancelledJobs, metrics: EmbeddingMetrics
    ) -> None:
        metrics.begin(TIER)
        self._metrics = metrics
        self._bus = bus
        self._model = model
        self._cancelled = cancelled
        self._batchers: dict[Lane, Batcher[ChunkTexts, Vectors]] = {
            lane: Batcher(
                self._embed,
                items_max=FILES_PER_BATCH,
                weight=lambda file: len(file.chunks),
                weight_max=CHUNKS_PER_BATCH,
                name="embed files",
            )
            for lane in Lane
        }

    async def on_chunked(self, lane: Lane, body: bytes) -> None:
        """Embed a file's chunks, unless its job was cancelled."""
        event = ChunkTexts.model_validate_json(body)
        tracing.note_message(event)
        if event.job in self._cancelled:
            return
        vectors = await self._batchers[lane].submit(event)
        embedded = embedded_body(event, body, vectors)
        await self._bus.publish_bytes(topics.FILE_EMBEDDED, lane, embedded, event.message_id_of(FileEmbedded))

    async def _embed(self, files: Sequence[ChunkTexts]) -> list[Vectors | Exception]:
        batch = [FileChunks(file.path, [chunk.text for chunk in file.chunks]) for file in files]
        with self._metrics.batch(TIER, sum(len(file.chunks) for file in files)):
            made = self._model.embed_files(batch)
        return [to_message(self._model.fingerprint, rows) for rows in made]
