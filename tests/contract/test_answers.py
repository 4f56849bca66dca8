"""Cached answers, on a real nats-server and a real store, with the real search."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from indexed_texts import DIMENSION, MODEL, OneVector, file_point
from prometheus_client import CollectorRegistry
from rerank_server import last_first, reranker, scores

from prism_contracts import names
from prism_contracts.base import repo_id
from prism_contracts.records import (
    DEEP_MODEL_KEY,
    FAST_MODEL_KEY,
    LayerState,
    ModelVersion,
    Repository,
)
from prism_contracts.rpc.search import SearchReply, SearchRequest
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_search.adapters import answers as answers_module
from prism_search.adapters.metrics import STEPS
from prism_search.main import SearchApp, build
from prism_search.settings import SearchSettings
from prism_store.gate import connect
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

NAME = "acme/parcel-tracker"
REPO = repo_id(NAME)
PATH = "depot/routes.py"
QUERY = "next stop of a parcel"
OLD, NEW = "def next_stop(parcel): return OLD\n", "def next_stop(parcel): return NEW\n"
DEADLINE_S = 120


class Searcher(NamedTuple):
    """One process of search."""

    app: SearchApp
    metrics: CollectorRegistry

    async def ask(self, tenant: str, query: str = QUERY, **asked: object) -> SearchReply:
        return await self.app.search.search(SearchRequest(tenant=tenant, query=query, **asked))


class Index:
    """The writes of ingest and the indexer, step by step."""

    def __init__(self, records: Records[Repository], writer: Writer) -> None:
        self._records = records
        self._writer = writer

    async def begin(self, tenant: str) -> None:
        await self._records.modify(self._key(tenant), lambda found: _begun(found, tenant))

    async def write(self, tenant: str, text: str, name: str = NAME, path: str = PATH) -> None:
        await self._writer.ensure_collection(tenant, MODEL, DIMENSION)
        version = await self._version(tenant)
        await self._writer.write(tenant, [file_point(tenant, name, path, text, version)])

    async def finish(self, tenant: str) -> None:
        version = await self._version(tenant)
        await self._records.modify(self._key(tenant), lambda found: _finished(found, version))

    async def clear_cache(self, tenant: str) -> None:
        await self._records.change(
            self._key(tenant), lambda found: found.model_copy(update={"cache_epoch": found.cache_epoch + 1})
        )

    async def import_(self, tenant: str, text: str) -> None:
        await self.begin(tenant)
        await self.write(tenant, text)
        await self.finish(tenant)

    async def _version(self, tenant: str) -> int:
        found = await self._records.get(self._key(tenant))
        assert found
        return found.next_version - 1

    def _key(self, tenant: str) -> str:
        return f"{tenant}.{REPO}"


def _begun(found: Repository | None, tenant: str) -> Repository:
    created = datetime(2026, 1, 2, tzinfo=UTC)
    found = found or Repository(tenant=tenant, repo=REPO, name=NAME, source="upload", created_at=created)
    return found.model_copy(update={"next_version": found.next_version + 1, "active_job": "j"})


def _finished(found: Repository | None, version: int) -> Repository:
    assert found
    state = LayerState(commit="c", version=version, job="j", indexed_at=datetime(2026, 1, 2, tzinfo=UTC))
    return found.model_copy(update={"active_job": "", "served": state})


@pytest.fixture
def tenant() -> str:
    return f"t{uuid.uuid4().hex}"


@pytest.fixture
async def bus(nats_server) -> AsyncIterator[Bus]:
    bus = Bus("test", ServiceSettings(nats_url=nats_server.url))
    await bus.start()
    yield bus
    await bus.stop()


@pytest.fixture
async def index(bus, qdrant_url) -> AsyncIterator[Index]:
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
    bucket = await open_bucket(bus.js, names.KV_REPOSITORIES)
    yield Index(Records(bucket, Repository), Writer(client))
    await client.close()


@pytest.fixture
def searcher(nats_server, bus, qdrant_url) -> Callable:
    """Starts search as one of several processes."""

    @asynccontextmanager
    async def start(*, deep: bool = False, **fields: Any) -> AsyncIterator[Searcher]:
        settings = SearchSettings(nats_url=nats_server.url, deep_enabled=deep, **fields)
        bus = Bus("search", settings)
        await bus.start()
        client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
        metrics = CollectorRegistry()
        app = await build(bus, settings, client, OneVector(), metrics)
        yield Searcher(app, metrics)
        if app.reranker:
            await app.reranker.close()
        await client.close()
        await bus.stop()

    return start


async def until_current(searcher: Searcher) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not await searcher.app.records.is_current():
            await asyncio.sleep(0.005)


def text_of(reply: SearchReply) -> str:
    return reply.results[0].content + "\n"


async def test_a_cached_answer_gets_a_receipt_of_its_own(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as search:
        first = await search.ask(tenant)
        again = await search.ask(tenant, "  next stop\nof a parcel ", repo=NAME)
        assert (first.receipt.cached, again.receipt.cached) == (False, True)
        assert again.results == first.results
        assert again.timings_ms.keys() == {"prepare", "cache", "receipt"}
        assert not (await search.ask(tenant, "next stop")).receipt.cached
        assert not (await search.ask(tenant, limit=1)).receipt.cached


async def test_a_search_is_measured_by_where_it_was_answered_and_by_step(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as search:

        def counted(name: str, **labels: str) -> float | None:
            return search.metrics.get_sample_value(f"{name}_count", labels)

        assert counted("prism_search_answer_seconds", found="memory") == 0
        assert counted("prism_search_leg_seconds", leg="keyword") == 0
        reply = await search.ask(tenant)
        await search.ask(tenant)
        answers = [
            counted("prism_search_answer_seconds", found=found) for found in ("nowhere", "memory", "passed")
        ]
        assert answers == [1, 1, 0]
        assert set(reply.timings_ms) == set(STEPS)
        for step in STEPS:
            expected = 2 if step in {"prepare", "cache", "receipt"} else 1
            assert counted("prism_search_step_seconds", step=step) == expected, step
        assert counted("prism_search_leg_seconds", leg="keyword") == 1
        assert counted("prism_search_leg_seconds", leg="deep") == 0
        assert counted("prism_query_embedding_seconds", tier="fast") == 1
        failures = search.metrics.get_sample_value("prism_search_leg_failures_total", {"leg": "keyword"})
        assert failures == 0


async def test_an_import_invalidates_cached_answers_when_it_begins(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as search:
        await search.ask(tenant)
        await index.begin(tenant)
        assert not (await search.ask(tenant)).receipt.cached
        await index.write(tenant, NEW)
        assert text_of(await search.ask(tenant)) == NEW
        await index.finish(tenant)
        assert text_of(await search.ask(tenant)) == NEW
        await until_current(search)
        assert text_of(await search.ask(tenant)) == NEW  # cached, if the answer before was not
        again = await search.ask(tenant)
        assert (again.receipt.cached, text_of(again)) == (True, NEW)


async def test_a_cleared_cache_answers_again(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as one, searcher() as other:
        for search in (one, other):
            await search.ask(tenant)
            assert (await search.ask(tenant)).receipt.cached
        await index.clear_cache(tenant)
        assert not (await one.ask(tenant)).receipt.cached
        await until_current(other)
        again = await other.ask(tenant, limit=1)
        assert (again.receipt.cached, text_of(again)) == (False, OLD)


async def test_a_lagging_process_returns_no_outdated_answer(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as search:
        await search.ask(tenant)
        assert (await search.ask(tenant)).receipt.cached
        await search.app.records.close()  # from here on it receives no records
        await index.import_(tenant, NEW)
        reply = await search.ask(tenant)
        assert (reply.receipt.cached, text_of(reply)) == (False, NEW)


async def test_an_answer_made_during_an_unseen_import_is_not_reused(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as deaf, searcher() as search:
        await deaf.app.records.close()
        await index.begin(tenant)
        assert text_of(await deaf.ask(tenant)) == OLD  # cached for the version that it knows
        await index.write(tenant, NEW)
        await index.finish(tenant)
        await until_current(search)
        reply = await search.ask(tenant)
        assert (reply.receipt.cached, text_of(reply)) == (False, NEW)


async def test_processes_share_answers(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as one, searcher() as other:
        first = await one.ask(tenant)
        async with asyncio.timeout(DEADLINE_S):
            while not (shared := await other.ask(tenant, QUERY)).receipt.cached:
                await asyncio.sleep(0.005)
        assert shared.results == first.results


async def test_cached_answers_are_separate_per_tenant(index, searcher, tenant):
    stranger = f"t{uuid.uuid4().hex}"
    await index.import_(tenant, OLD)
    await index.import_(stranger, NEW)
    async with searcher() as search:
        await search.ask(tenant)
        reply = await search.ask(stranger)
        assert (reply.receipt.cached, text_of(reply)) == (False, NEW)


async def test_an_unseen_repository_is_in_no_cached_answer(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as search:
        await search.ask(tenant)
        await index.write(tenant, NEW, "acme/depot-plans")
        for asked in ({}, {"repo": NAME}):
            reply = await search.ask(tenant, "next stop", **asked)
            assert [f"{hit.content}\n" for hit in reply.results] == [OLD]


async def test_an_answer_without_a_leg_is_not_cached(index, searcher, bus, tenant):
    await index.import_(tenant, OLD)
    model_versions = Records(await open_bucket(bus.js, names.KV_MODEL_VERSIONS), ModelVersion)
    await model_versions.put(FAST_MODEL_KEY, ModelVersion(version="another", dimension=DIMENSION))
    async with searcher() as search:
        for _ in range(2):
            reply = await search.ask(tenant)
            assert (reply.receipt.cached, reply.receipt.missing_legs) == (False, ("vector",))
            assert text_of(reply) == OLD
    await model_versions.put(FAST_MODEL_KEY, ModelVersion(version=MODEL, dimension=DIMENSION))


async def test_an_answer_without_its_deep_vector_reports_it(index, searcher, bus, tenant):
    await index.import_(tenant, OLD)
    model_versions = Records(await open_bucket(bus.js, names.KV_MODEL_VERSIONS), ModelVersion)
    await model_versions.put(DEEP_MODEL_KEY, ModelVersion(version="away", dimension=DIMENSION))
    async with searcher(deep=True) as search:
        reply = await search.ask(tenant)
        assert (reply.receipt.missing_legs, text_of(reply)) == (("deep",), OLD)
        assert search.metrics.get_sample_value("prism_search_leg_failures_total", {"leg": "deep"}) >= 1


async def test_questions_are_answered_without_the_bucket(index, searcher, bus, tenant):
    await index.import_(tenant, OLD)
    async with searcher() as search:
        await bus.js.delete_key_value(names.KV_ANSWERS)
        assert text_of(await search.ask(tenant)) == OLD
        assert text_of(await search.ask(tenant)) == OLD


async def test_without_nats_nothing_hangs_and_no_cache_is_used(
    index, searcher, nats_server, monkeypatch, tenant
):
    await index.import_(tenant, OLD)
    monkeypatch.setattr(answers_module, "PAUSE_S", 0.0)
    async with searcher() as search:
        await search.ask(tenant)
        nats_server.kill()
        async with asyncio.timeout(DEADLINE_S):
            assert not (await search.ask(tenant)).receipt.cached
        nats_server.start()
        async with asyncio.timeout(DEADLINE_S):
            while not (await search.ask(tenant)).receipt.cached:
                await asyncio.sleep(0.01)


async def test_another_reranker_makes_another_answer(index, searcher, tenant):
    await index.import_(tenant, OLD)
    async with (
        reranker() as server,
        searcher(**server.settings()) as one,
        searcher(**server.settings()) as same,
        searcher(**server.settings(reranker_model="rank-2")) as other,
    ):
        await one.ask(tenant)
        async with asyncio.timeout(DEADLINE_S):
            while not (await same.ask(tenant)).receipt.cached:
                await asyncio.sleep(0.005)
        assert not (await other.ask(tenant)).receipt.cached


async def test_an_answer_that_the_reranker_did_not_order_is_not_cached(index, searcher, tenant):
    await index.import_(tenant, OLD)
    await index.write(tenant, OLD + "\n\n" + OLD.replace("next_stop", "last_stop"), path="depot/stops.py")
    async with reranker() as server, searcher(**server.settings()) as search:
        server.answer = scores(1.0)  # of one document, where two were asked about
        for _ in range(2):
            reply = await search.ask(tenant)
            assert (reply.receipt.cached, reply.receipt.missing_legs) == (False, ("reranker",))
        server.answer = last_first
        assert not (await search.ask(tenant)).receipt.missing_legs
        assert (await search.ask(tenant)).receipt.cached
