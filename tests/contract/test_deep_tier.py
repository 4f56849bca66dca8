"""The deep tier on a real bus and store: it adds missing vectors, survives a kill, and delays no file."""

import asyncio
import os
import threading
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess

import numpy as np
import pytest
from forked_processes import forked
from prometheus_client import CollectorRegistry

from prism_catalog.layer_files import LayerFilesStore
from prism_contracts import names, topics
from prism_contracts.base import BASE_LAYER, Lane, repo_id
from prism_contracts.code import Chunk, FileFlags, FileStatus, Symbol, SymbolKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileChunked, FileEmbedded, RepoIndexed
from prism_contracts.records import (
    Layer,
    LayerFiles,
    LayerKind,
    LayerState,
    ModelVersion,
    Repository,
)
from prism_contracts.registry import AnyTopic
from prism_embedder.adapters.deep import DeepModel, DeepOptions
from prism_embedder.core.rows import unit_rows
from prism_embedder.main import announce, build, register
from prism_embedder.settings import EmbedderSettings
from prism_indexer.core import indexed_point
from prism_indexer.deep_handlers import CARDS_PER_REQUEST
from prism_model.static_model import SHIPPED_WEIGHTS, StaticModel
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_runtime.vectors import to_message
from prism_search.adapters.embedding import QueryEmbedding
from prism_search.adapters.metrics import QueryEmbeddingMetrics
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.reader import Reader, with_status, with_vector
from prism_store.schema import alias, deep_vector, is_deep_vector
from prism_store.scope import Scope
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

FAST, DIMENSION = "m1", 4
REPO = repo_id("acme/parcel-tracker")
FILES = 3 * CARDS_PER_REQUEST + 10
DEADLINE_S = 120
ACK_WAIT_S = 1.0
NOW = datetime(2026, 1, 2, tzinfo=UTC)


class LetterEncoder:
    """Counts letters. While its gate is closed it accepts no documents."""

    dimension = 26
    tokens_max = 256

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def encode_queries(self, texts):
        return self._encode(texts)

    def encode_documents(self, texts):
        assert self.gate.wait(DEADLINE_S)
        self.documents += texts
        return self._encode(texts)

    def _encode(self, texts):
        return unit_rows(np.array([[text.count(chr(97 + i)) for i in range(26)] for text in texts], float))


def file_point(tenant: str, number: int, version: int = 1, layer: str = BASE_LAYER) -> FilePoint:
    where = {
        "tenant": tenant, "repo": REPO, "layer": layer, "path": f"tracker/route{number}.py", "version": version, "job": "j",
        "ordinal": number, "lane": Lane.BULK,
    }  # fmt: skip
    symbol = Symbol(name=f"stop{number}", qualified_name=f"stop{number}", kind=SymbolKind.FUNCTION,
                    start_line=1, end_line=1, name_line=1)  # fmt: skip
    file = FileChunked(
        **where, blob=f"{number}.{version}", size_bytes=1, line_count=1, language="python", flags=FileFlags(), chunker="1",
        chunks=(Chunk(ordinal=0, start_line=1, end_line=1, text=f"# Version {version} of a route.\n"),), symbols=(symbol,),
    )  # fmt: skip
    return indexed_point(
        FileEmbedded(**where, file=file, vectors=to_message(FAST, np.ones((1, DIMENSION), np.float32)))
    )


class Tier:
    """A tenant's files in the store, a bus, and the processes of the tier."""

    def __init__(self, nats_url: str, qdrant_url: str) -> None:
        self.tenant = f"t{uuid.uuid4().hex}"
        self.scope = Scope(tenant=self.tenant, repos=(REPO,))
        self.client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
        self.writer, self.reader = Writer(self.client), Reader(self.client)
        self.settings = ServiceSettings(nats_url=nats_url, ack_wait_s=ACK_WAIT_S)
        self.test_bus = Bus("test", self.settings)
        self._environment = {
            **os.environ, "PRISM_NATS_URL": nats_url, "PRISM_QDRANT_URL": qdrant_url, "PRISM_DEEP_ENABLED": "true",
            "PRISM_ACK_WAIT_S": str(ACK_WAIT_S),
        }  # fmt: skip

    async def begin(self) -> None:
        """An index that was built before the deep model was turned on."""
        await self.test_bus.connect()
        await self.writer.ensure_collection(self.tenant, FAST, DIMENSION)
        await self.writer.write(self.tenant, [file_point(self.tenant, number) for number in range(FILES)])
        state = LayerState(commit="c", version=1, job="j", indexed_at=NOW)
        record = Repository(
            tenant=self.tenant, repo=REPO, name="acme/parcel-tracker", source="upload", created_at=NOW,
            next_version=2, served=state,
        )  # fmt: skip
        await (await self.records(names.KV_REPOSITORIES, Repository)).put(record.key, record)

    async def records(self, bucket, record_type):
        return Records(await open_bucket(self.test_bus.js, bucket), record_type)

    def indexer(self) -> AbstractAsyncContextManager[BaseProcess]:
        """Runs the real process; killed at the end."""
        return forked("prism_indexer.main", self._environment)

    @asynccontextmanager
    async def embedder(self, encoder: LetterEncoder, weights: str = "w") -> AsyncIterator[DeepModel]:
        """Runs the tier as the process does, with a substitute for the weights."""
        bus = Bus("embedder-deep", self.settings)
        await bus.connect()
        model = DeepModel(encoder, weights, DeepOptions())
        self.metrics = CollectorRegistry()
        settings = EmbedderSettings(embedder_tier="deep", embedder_deep_threads=2)
        app = await build(bus, settings, model, self.metrics)
        register(bus, app, workers=1)
        await announce(bus, app, adopt=False)
        await bus.start()
        try:
            yield model
        finally:
            encoder.gate.set()
            await bus.stop()

    async def filled(self, model: DeepModel) -> int:
        """Counts files with a vector of the model."""
        if not await self.reader.has_deep_vectors(self.tenant, model.fingerprint):
            return 0
        conditions = [with_status(FileStatus.INDEXED), with_vector(deep_vector(model.fingerprint))]
        return await self.reader.count(self.scope, conditions)

    async def filled_variants(self, model: DeepModel) -> int:
        """Counts variants with a vector of the model."""
        scopes = [Scope(self.tenant, (REPO,), layer=f"~{number}") for number in range(3)]
        has_vector = [with_vector(deep_vector(model.fingerprint))]
        return sum([await self.reader.count(scope, has_vector) for scope in scopes])

    async def until_filled(self, model: DeepModel, files: int = FILES) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while await self.filled(model) < files:
                await asyncio.sleep(0.02)

    async def requests(self) -> int:
        """Counts requests for vectors."""
        return (await self.test_bus.js.stream_info("PRISM_DEEP")).state.last_seq

    async def until_handled(self, topic: AnyTopic) -> None:
        """Wait until the indexer has handled every event of a topic."""
        durable = topic.durable("indexer", Lane.BULK)
        async with asyncio.timeout(DEADLINE_S):
            while True:
                info = await self.test_bus.js.consumer_info(topic.stream.name, durable)
                if not info.num_pending and not info.num_ack_pending:
                    return
                await asyncio.sleep(0.02)

    async def has_layer(self, files: dict[str, str]) -> None:
        """A layer that serves variants, by path."""
        state = LayerState(commit="d", version=7, job="j7", indexed_at=NOW)
        layer = Layer(
            tenant=self.tenant, repo=REPO, layer="l1", kind=LayerKind.BRANCH, ref="topic", created_at=NOW,
            files=f"{self.tenant}.list", served=state,
        )  # fmt: skip
        await (await LayerFilesStore.open(self.test_bus.js, 1)).put(layer.files, LayerFiles(variants=files))
        await (await self.records(names.KV_LAYERS, Layer)).put(layer.key, layer)

    async def announce_indexed(
        self, version: int, files: Sequence[FilePoint], layer: str = BASE_LAYER
    ) -> None:
        """Write files, then announce their import."""
        await self.writer.write(self.tenant, files)
        event = RepoIndexed(
            tenant=self.tenant,
            repo=REPO,
            layer=layer,
            version=version,
            job=f"j{version}",
            commit="c",
            complete=True,
        )
        await self.test_bus.publish(event, lane=Lane.LIVE)


@pytest.fixture
async def tier(nats_server, qdrant_url) -> AsyncIterator[Tier]:
    tier = Tier(nats_server.url, qdrant_url)
    await tier.begin()
    yield tier
    await tier.test_bus.stop()
    await tier.client.close()


async def test_deep_vectors_are_added_once_although_the_indexer_dies(tier):
    encoder = LetterEncoder()
    encoder.gate.clear()
    async with tier.embedder(encoder) as model:
        async with tier.indexer() as indexer:
            async with asyncio.timeout(DEADLINE_S):
                while not (await tier.test_bus.js.stream_info("PRISM_DEEP")).state.messages:
                    await asyncio.sleep(0.01)
            indexer.kill()
            await asyncio.to_thread(indexer.join)
        assert await tier.filled(model) == 0
        encoder.gate.set()
        async with tier.indexer():
            await tier.until_filled(model)
        assert len(encoder.documents) == len(set(encoder.documents)) == FILES
        assert encoder.documents[0].startswith("route")
        labels = {"tier": "deep", "source": "computed"}
        assert tier.metrics.get_sample_value("prism_embedded_texts_total", labels) == FILES


async def test_restarted_model_gets_no_repeated_requests(tier):
    async with tier.embedder(LetterEncoder()) as model, tier.indexer():
        await tier.until_filled(model)
    asked = await tier.requests()
    async with tier.embedder(LetterEncoder()), tier.indexer() as indexer:
        await tier.until_handled(topics.DEEP_STARTED)
        assert await tier.requests() == asked
        assert indexer.exitcode is None


async def test_import_requests_vectors_of_its_changed_files_only(tier):
    encoder = LetterEncoder()
    async with tier.embedder(encoder) as model, tier.indexer():
        await tier.until_filled(model)
        encoder.documents.clear()
        encoder.gate.clear()
        await tier.announce_indexed(2, [file_point(tier.tenant, number, version=2) for number in (0, 1)])
        assert await tier.filled(model) == FILES - 2
        encoder.gate.set()
        await tier.until_filled(model)
        assert sorted(encoder.documents) == [
            f"route {number} in tracker. Version 2 of a route. stop {number}" for number in (0, 1)
        ]


@pytest.mark.parametrize("is_there_first", [False, True], ids=["indexed later", "there before the model"])
async def test_overrides_of_a_layer_get_deep_vectors(tier, is_there_first):
    variants = {f"tracker/route{number}.py": f"~{number}" for number in (0, 1)}
    files = [file_point(tier.tenant, number, version=7, layer=f"~{number}") for number in (0, 1)]
    shared = file_point(tier.tenant, 2, version=7, layer="~2")  # no longer in any layer
    encoder = LetterEncoder()
    if is_there_first:
        await tier.writer.write(tier.tenant, [*files, shared])
        await tier.has_layer(variants)
    async with tier.embedder(encoder) as model, tier.indexer():
        await tier.until_filled(model)
        if not is_there_first:
            await tier.has_layer(variants)
            await tier.announce_indexed(7, [*files, shared], layer="l1")
        async with asyncio.timeout(DEADLINE_S):
            while await tier.filled_variants(model) < len(files):
                await asyncio.sleep(0.02)
        assert sum("Version 7" in text for text in encoder.documents) == len(files)


async def test_another_model_replaces_the_first(tier):
    async with tier.embedder(LetterEncoder()) as first, tier.indexer():
        await tier.until_filled(first)
    async with tier.embedder(LetterEncoder(), "other weights") as second, tier.indexer():
        await tier.until_filled(second)
    vectors = (await tier.client.get_collection(alias(tier.tenant))).config.params.vectors
    assert list(filter(is_deep_vector, vectors)) == [deep_vector(second.fingerprint)]


async def test_a_question_does_not_wait_for_the_tier_if_it_is_late(tier):
    class Late(LetterEncoder):
        def encode_queries(self, texts):
            assert released.wait(DEADLINE_S)
            return super().encode_queries(texts)

    released = threading.Event()
    async with tier.embedder(Late()) as model:
        watched = await tier.test_bus.follow(names.KV_MODEL_VERSIONS, ModelVersion)
        assert isinstance(watched, WatchedRecords)
        fast = StaticModel.load(SHIPPED_WEIGHTS, mapped=True)
        embedding = QueryEmbedding(
            fast, tier.test_bus, watched, 0.2, deep=True, metrics=QueryEmbeddingMetrics(CollectorRegistry())
        )
        assert await embedding.deep("where is the parcel") is None
        released.set()
        await embedding.check_deep()
        patient = QueryEmbedding(
            fast,
            tier.test_bus,
            watched,
            DEADLINE_S,
            deep=True,
            metrics=QueryEmbeddingMetrics(CollectorRegistry()),
        )
        assert len(await patient.deep("where is the parcel")) == model.dimension
        assert patient.deep_model() == model.fingerprint
        await watched.close()


async def test_a_deep_model_that_is_gone_is_missing(tier):
    fast = StaticModel.load(SHIPPED_WEIGHTS, mapped=True)
    watched = await tier.test_bus.follow(names.KV_MODEL_VERSIONS, ModelVersion)
    embedding = QueryEmbedding(
        fast, tier.test_bus, watched, 0.2, deep=True, metrics=QueryEmbeddingMetrics(CollectorRegistry())
    )
    await embedding.check_deep()  # no deep model ever ran
    async with tier.embedder(LetterEncoder()):
        await watched.catch_up()
        await embedding.check_deep()
    with pytest.raises(PrismError) as caught:
        await embedding.check_deep()
    assert caught.value.code is ErrorCode.UNAVAILABLE
    await watched.close()
