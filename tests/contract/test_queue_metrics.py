"""Queues, streams and running jobs as metrics, on a real nats-server."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from prism_contracts import names, topics
from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.events import FileRemoved, FileSkipped, SkipReason
from prism_contracts.records import Job, JobState, Layer, LayerKind, Repository
from prism_ingest.adapters.metrics import JobMetrics, QueueMetrics
from prism_ingest.operations import queue_watch
from prism_ingest.operations.queue_watch import QueueWatch
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings

DEADLINE_S = 120
NOW = datetime.now(UTC)
ADDRESS: dict[str, Any] = {"tenant": "t", "repo": "r", "version": 1, "job": "j"}
BEGAN = {"began": NOW - timedelta(hours=1), "fresh": NOW}


class Watched:
    """A bus, a watch on it, and what the watch shows."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.registry = CollectorRegistry()

    async def open(self) -> None:
        kv = await open_bucket(self.bus.js, names.KV_JOBS)
        self.jobs = Records(kv, Job)
        self.watch = QueueWatch(
            self.bus,
            self.jobs,
            await self.bus.follow(names.KV_REPOSITORIES, Repository),
            await self.bus.follow(names.KV_LAYERS, Layer),
            queue_metrics=QueueMetrics(self.registry),
            job_metrics=JobMetrics(self.registry),
        )

    def shown(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)

    def queue(self, lane: Lane) -> tuple[float | None, ...]:
        facts = ("pending", "in_flight", "redelivered")
        return tuple(self.shown(f"prism_queue_{fact}", stage="indexer", lane=lane.value) for fact in facts)


@pytest.fixture
async def make_bus(nats_server) -> AsyncIterator[Callable[..., Bus]]:
    made: list[Bus] = []

    def make(service: str, **settings: Any) -> Bus:
        made.append(Bus(service, ServiceSettings(nats_url=nats_server.url, **settings)))
        return made[-1]

    yield make
    for bus in made:
        await bus.stop()


@pytest.fixture
async def watched(make_bus) -> Watched:
    """A watch; the consumers of the indexer exist, and nothing handles their messages."""
    indexer = make_bus("indexer")

    async def handle(_: FileRemoved | FileSkipped) -> None:
        raise AssertionError

    indexer.consume(topics.FILE_REMOVED, handle, workers=1)
    indexer.consume(topics.FILE_SKIPPED, handle, workers=1)
    await indexer.connect()
    await indexer._declare_consumers()
    watched = Watched(make_bus("ingest"))
    await watched.bus.connect()
    await watched.open()
    return watched


def removed(ordinal: int) -> FileRemoved:
    return FileRemoved(path="a.py", ordinal=ordinal, lane=Lane.LIVE, **ADDRESS)


async def test_a_stage_shows_the_messages_of_all_its_consumers(watched) -> None:
    await watched.watch.round()
    assert watched.queue(Lane.LIVE) == (0, 0, 0)
    assert watched.shown("prism_queue_oldest_seconds", stage="indexer", lane="live") == 0
    await watched.bus.publish(removed(0))
    await watched.bus.publish(removed(1))
    skipped = FileSkipped(
        path="b.bin", ordinal=2, lane=Lane.LIVE, blob="0", size_bytes=1, reason=SkipReason.BINARY, **ADDRESS
    )
    await watched.bus.publish(skipped)
    async with asyncio.timeout(DEADLINE_S):  # the server counts a stored message a moment later
        while watched.queue(Lane.LIVE) != (3, 0, 0):
            await watched.watch.round()
    assert watched.queue(Lane.BULK) == (0, 0, 0)
    assert watched.shown("prism_queue_oldest_seconds", stage="indexer", lane="live") > 0


async def test_the_oldest_message_may_be_in_flight_already(watched) -> None:
    await watched.bus.publish(removed(0))
    durable = topics.FILE_REMOVED.durable("indexer", Lane.LIVE)
    js = watched.bus.broker.connection.jetstream()
    pull = await js.pull_subscribe_bind(durable, topics.FILE_REMOVED.stream.name)
    (taken,) = await pull.fetch(1)
    await watched.watch.round()
    assert watched.queue(Lane.LIVE) == (0, 1, 0)
    oldest = watched.shown("prism_queue_oldest_seconds", stage="indexer", lane="live")
    await watched.bus.publish(removed(1))
    await watched.watch.round()
    assert watched.queue(Lane.LIVE) == (1, 1, 0)
    assert watched.shown("prism_queue_oldest_seconds", stage="indexer", lane="live") > oldest
    await taken.ack_sync()
    await watched.watch.round()
    assert watched.queue(Lane.LIVE) == (1, 0, 0)


async def test_streams_show_their_bytes_copies_and_leader(watched) -> None:
    await watched.bus.publish(removed(0))
    await watched.bus.js.publish(names.dead_letter_subject("t", "S", "c"), b"{}")
    await watched.watch.round()
    stream = topics.FILE_REMOVED.stream
    assert watched.shown("prism_stream_bytes", stream=stream.name) > 0
    assert watched.shown("prism_stream_bytes_limit", stream=stream.name) == stream.max_bytes
    facts = ("replicas", "replicas_current", "has_leader")
    assert [watched.shown(f"prism_stream_{fact}", stream=stream.name) for fact in facts] == [1, 1, 1]
    assert watched.shown("prism_dead_letters_kept") == 1
    assert watched.shown("prism_deep_pending") == 0


async def test_running_jobs_are_counted_by_kind(watched) -> None:
    bus = watched.bus
    repositories = Records(await open_bucket(bus.js, names.KV_REPOSITORIES), Repository)
    layers = Records(await open_bucket(bus.js, names.KV_LAYERS), Layer)
    await watched.watch.round()
    assert watched.shown("prism_jobs_running", kind=BASE_LAYER) == 0
    assert watched.shown("prism_job_oldest_seconds") == 0
    for job, began in BEGAN.items():
        record = Job(
            job=job, tenant="t", repo="r", repo_name="a/r", lane=Lane.BULK, state=JobState.INDEXING,
            created_at=began, updated_at=began,
        )  # fmt: skip
        await watched.jobs.put(job, record)
    for repo, job in (("r", "began"), ("quiet", "")):
        record = Repository(
            tenant="t", repo=repo, name=f"a/{repo}", source="upload", active_job=job, created_at=NOW
        )
        await repositories.put(record.key, record)
    layer = Layer(
        tenant="t", repo="r", layer="l", kind=LayerKind.BRANCH, ref="b", source="upload", active_job="fresh",
        created_at=NOW, expires_at=NOW + timedelta(days=1),
    )  # fmt: skip
    await layers.put(layer.key, layer)
    async with asyncio.timeout(DEADLINE_S):
        while not watched.shown("prism_jobs_running", kind="branch"):
            await watched.watch.round()
    assert watched.shown("prism_jobs_running", kind=BASE_LAYER) == 1
    assert watched.shown("prism_jobs_running", kind="overlay") == 0
    assert watched.shown("prism_job_oldest_seconds") >= 3600


async def test_what_cannot_be_read_has_no_value(watched, nats_server, monkeypatch) -> None:
    monkeypatch.setattr(queue_watch, "LOOK_S_MAX", 0.2)
    await watched.bus.publish(removed(0))
    await watched.watch.round()
    assert watched.queue(Lane.LIVE) == (1, 0, 0)
    nats_server.kill()
    await watched.watch.round()
    assert watched.queue(Lane.LIVE) == (None, None, None)
    assert watched.shown("prism_stream_bytes", stream=topics.FILE_REMOVED.stream.name) is None
    assert math.isnan(watched.shown("prism_dead_letters_kept"))
    nats_server.start()
    async with asyncio.timeout(DEADLINE_S):
        while watched.queue(Lane.LIVE) != (1, 0, 0):
            await watched.watch.round()
