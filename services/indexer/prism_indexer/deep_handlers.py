"""Adds deep vectors in the background: requests those that files lack, and writes them on arrival.

The index itself shows which vectors are missing, so no list can be lost: after a kill the message is
redelivered, and vectors written meanwhile are not requested again. Runs after an import, never during it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

from prism_catalog.layer_files import LayerFilesStore
from prism_contracts.base import BASE_LAYER, Lane, chunk_id
from prism_contracts.code import FileStatus
from prism_contracts.events import Card, DeepEmbedded, DeepEmbeddingRequested, DeepModelStarted, RepoIndexed
from prism_contracts.records import DEEP_MODEL_KEY, Layer, ModelVersion, Repository, layer_key
from prism_indexer.core import card_text
from prism_runtime.bus import Bus
from prism_runtime.packing import unpack_symbols
from prism_runtime.records import Records, WatchedRecords
from prism_runtime.vectors import unpack
from prism_store.reader import Reader, StoredPoint, newer_than, with_status, without_vector
from prism_store.schema import deep_vector
from prism_store.scope import Scope, View
from prism_store.writer import Writer

# Cards per request: some seconds of work, which is the loss of a kill.
CARDS_PER_REQUEST = 64

log = logging.getLogger(__name__)


class DeepVectorHandlers:
    """Consumes events after which vectors may be missing, and the vectors themselves."""

    def __init__(
        self,
        bus: Bus,
        reader: Reader,
        writer: Writer,
        *,
        model_versions: WatchedRecords[ModelVersion],
        repositories: WatchedRecords[Repository],
        layers: Records[Layer],
        layer_files: LayerFilesStore,
    ) -> None:
        self._bus = bus
        self._reader = reader
        self._writer = writer
        self._model_versions = model_versions
        self._repositories = repositories
        self._layers = layers
        self._layer_files = layer_files
        self._asked_up_to: dict[tuple[Scope, str], int] = {}  # scope and model -> version of the repository

    async def on_started(self, _: DeepModelStarted) -> None:
        """A model has started, for the first time or again: request the vectors that any file lacks."""
        for repository in self._repositories.values():
            scope = Scope(tenant=repository.tenant, repos=(repository.repo,))
            await self._fill(scope, Lane.BULK, since=0)
        for layer in await self._layers.all():
            await self._fill_layer(layer, Lane.BULK)

    async def on_indexed(self, event: RepoIndexed) -> None:
        """Request vectors for an import, and for superseded imports that had not ended."""
        model = self._model()
        if model is None:
            return  # the model's start requests everything
        if event.layer != BASE_LAYER:
            layer = await self._layers.get(layer_key(event.tenant, event.repo, event.layer))
            if layer:
                await self._fill_layer(layer, event.lane)
            return
        scope = Scope(tenant=event.tenant, repos=(event.repo,))
        key = scope, model.version
        await self._fill(scope, event.lane, since=self._asked_up_to.get(key, 0))
        self._asked_up_to[key] = max(event.version, self._asked_up_to.get(key, 0))

    async def on_embedded(self, event: DeepEmbedded) -> None:
        """Add vectors to files that still have the embedded version."""
        model = self._model()
        if model is None or event.vectors.model != model.version:
            return  # another model runs by now
        rows = unpack(event.vectors.data, event.vectors.count, event.vectors.dimension)
        if await self._writer.ensure_deep_vector(event.tenant, model.version, model.dimension):
            await self._writer.write_deep(event.tenant, model.version, event.files, rows)

    def _model(self) -> ModelVersion | None:
        return self._model_versions.get(DEEP_MODEL_KEY)

    async def _fill_layer(self, layer: Layer, lane: Lane) -> None:
        """Request the vectors that variants of a layer lack, whichever job created the variants."""
        files = await self._layer_files.get(layer.files) if layer.files else None
        if files is None:
            return  # the job of the newer list will request it
        place = (layer.tenant, layer.repo)
        view = View.of((layer.files,), place, files.variants, ())
        await self._fill(Scope(layer.tenant, (layer.repo,), view=view), lane, since=0)

    async def _fill(self, scope: Scope, lane: Lane, since: int) -> None:
        """Request the vectors that files of later versions lack. Waits while the stream is full."""
        model = self._model()
        if model is None or not await self._writer.ensure_deep_vector(
            scope.tenant, model.version, model.dimension
        ):
            return
        asked = 0
        async for files in self._lacking(scope, model.version, since):
            request = DeepEmbeddingRequested(
                tenant=scope.tenant,
                lane=lane,
                model=model.version,
                cards=await self._cards(scope, files),
            )
            await self._bus.publish(request, lane=lane)
            asked += len(files)
        if asked:
            log.info("asked for the deep vectors of %d files of %s", asked, scope.repos[0])

    async def _lacking(self, scope: Scope, model: str, since: int) -> AsyncIterator[list[StoredPoint]]:
        """Yields pages of indexed files without a vector; for a view, of its own files."""
        conditions = (
            with_status(FileStatus.INDEXED),
            newer_than(since),
            without_vector(deep_vector(model)),
        )
        scan = self._reader.scan_added if scope.view else self._reader.scan
        files: list[StoredPoint] = []
        async for file in scan(scope, conditions, ("path", "generation", "symbols"), CARDS_PER_REQUEST):
            files.append(file)
            if len(files) == CARDS_PER_REQUEST:
                yield files
                files = []
        if files:
            yield files

    async def _cards(self, scope: Scope, files: Sequence[StoredPoint]) -> tuple[Card, ...]:
        first = {file.id: chunk_id(file.id, file.text("generation"), 0) for file in files}
        chunks = await self._reader.points(scope, list(first.values()), ("text",))
        openings = {file: chunk.text("text") for file, id_ in first.items() if (chunk := chunks.get(id_))}
        # On a thread: live files that arrive meanwhile are written.
        return await asyncio.to_thread(
            lambda: tuple(_card(file, openings.get(file.id, "")) for file in files)
        )


def _card(file: StoredPoint, opening: str) -> Card:
    symbols = unpack_symbols(file.text("symbols"))
    return Card(
        file=file.id,
        generation=file.text("generation"),
        text=card_text(file.text("path"), symbols, opening),
    )
