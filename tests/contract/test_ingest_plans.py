"""Planning a job on a real nats-server: the same command can be worked on twice at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from prism_contracts import names
from prism_contracts.base import Lane
from prism_contracts.events import FilesSettled, Outcome, SettledFile
from prism_contracts.records import (
    COMPONENT_CHUNKER,
    COMPONENT_FAST_MODEL,
    Component,
    Job,
    JobState,
)
from prism_contracts.rpc import ManifestReply, ManifestRequest, OpenSnapshotRequest, SnapshotFile
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.snapshots import SnapshotStore
from prism_ingest.handlers.jobs import JobHandlers
from prism_ingest.handlers.snapshots import SnapshotHandlers
from prism_ingest.settings import IngestSettings
from prism_runtime import rpc
from prism_runtime.bus import Bus
from prism_runtime.histories import HistoryStore
from prism_runtime.records import Records, open_bucket

DEADLINE_S = 20
FILES = tuple(SnapshotFile(path=f"{number}.py", blob=f"{number:040}", size_bytes=1) for number in range(2))
REQUEST = OpenSnapshotRequest(
    tenant="t", repo_name="acme/twice", snapshot="s", commit="c", lane=Lane.LIVE, files=FILES
)


class Ingest(NamedTuple):
    """The handlers, and who answers them what the index holds: nothing, each question when it may."""

    snapshots: SnapshotHandlers
    jobs: JobHandlers
    ledger: Ledger
    asked: asyncio.Queue[asyncio.Event]


@pytest.fixture
async def ingest(nats_server) -> AsyncIterator[Ingest]:
    settings = IngestSettings(nats_url=nats_server.url)
    bus, search = Bus("ingest", settings), Bus("search", settings)
    asked: asyncio.Queue[asyncio.Event] = asyncio.Queue()

    async def manifest(_: ManifestRequest) -> ManifestReply:
        may_answer = asyncio.Event()
        await asked.put(may_answer)
        await may_answer.wait()
        return ManifestReply(entries=())

    rpc.serve(search, names.RPC_MANIFEST, ManifestRequest, manifest, deadline_s=DEADLINE_S)
    await search.start()
    await bus.start()
    components = Records(await open_bucket(bus.js, names.KV_COMPONENTS), Component)
    for component in (COMPONENT_CHUNKER, COMPONENT_FAST_MODEL):
        await components.put(component, Component(version="1"))
    ledger = await Ledger.open(bus.js, 1)
    store = await SnapshotStore.open(bus.js, 1)
    jobs = JobHandlers(bus, ledger, store)
    histories = await HistoryStore.open(bus.js, 1)
    snapshots = SnapshotHandlers(
        bus, ledger, snapshots=store, histories=histories, jobs=jobs, settings=settings
    )
    yield Ingest(snapshots, jobs, ledger, asked)
    await bus.stop()
    await search.stop()


def settled(job: Job, files: list[SettledFile]) -> FilesSettled:
    return FilesSettled(tenant=job.tenant, job=job.job, files=tuple(files))


@pytest.mark.parametrize("settled_meanwhile", [1, 2], ids=["some files", "all files"])
async def test_a_plan_that_comes_second_forgets_no_settled_file(ingest: Ingest, settled_meanwhile) -> None:
    async with asyncio.timeout(DEADLINE_S):
        slow = asyncio.create_task(ingest.snapshots.open_snapshot(REQUEST))
        slow_may_plan = await ingest.asked.get()
        quick = asyncio.create_task(ingest.snapshots.open_snapshot(REQUEST))
        (await ingest.asked.get()).set()
        job = (await quick).job
        files = [
            SettledFile(path=file.path, ordinal=ordinal, outcome=Outcome.INDEXED)
            for ordinal, file in enumerate(FILES)
        ]
        await ingest.jobs.on_settled(settled(job, files[:settled_meanwhile]))
        slow_may_plan.set()
        assert list((await slow).needed) == list(range(settled_meanwhile, len(FILES)))
        await ingest.jobs.on_settled(settled(job, files[settled_meanwhile:]))
        ended = await ingest.ledger.jobs.get(job.job)
    assert ended.state is JobState.COMPLETE
    assert ended.counts.indexed == len(FILES)
