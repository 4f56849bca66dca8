"""Planning a job on a real nats-server, where the same command may be processed twice at once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from prometheus_client import CollectorRegistry

from prism_catalog.histories import HistoryStore
from prism_catalog.vault import Vault, VaultSettings
from prism_contracts import names, topics
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FilesSettled, FilesUploaded, Outcome, SettledFile
from prism_contracts.records import (
    CHUNKER_KEY,
    FAST_MODEL_KEY,
    History,
    HistoryCommit,
    HistoryFile,
    Job,
    JobState,
    ModelVersion,
)
from prism_contracts.rpc.files import MANIFEST, ManifestReply, ManifestRequest
from prism_contracts.rpc.imports import (
    AdmitUploadReply,
    AdmitUploadRequest,
    OpenSnapshotRequest,
    SnapshotFile,
)
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.handlers.jobs import JobHandlers
from prism_ingest.handlers.snapshots import SnapshotHandlers
from prism_ingest.main import build
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus, DeadLetter
from prism_runtime.records import Records, open_bucket

DEADLINE_S = 120
FILES = tuple(SnapshotFile(path=f"{number}.py", blob=f"{number:040}", size_bytes=1) for number in range(2))
REQUEST = OpenSnapshotRequest(
    tenant="t", repo_name="acme/twice", snapshot="s", commit="c", lane=Lane.LIVE, files=FILES
)
HISTORY = History(
    commits=(HistoryCommit(commit="4f7c2b9", at=datetime(2026, 1, 1, tzinfo=UTC), message="Weigh twice"),),
    files=(HistoryFile(path="0.py", last=0, commits_90_days=1, commits_12_months=4),),
)


class Ingest(NamedTuple):
    """The handlers, and a stand-in for the index: empty, and each manifest request waits for permission."""

    snapshots: SnapshotHandlers
    jobs: JobHandlers
    ledger: Ledger
    histories: HistoryStore
    asked: asyncio.Queue[asyncio.Event]
    metrics: CollectorRegistry

    async def open(self, request: OpenSnapshotRequest) -> Job:
        """Opens a snapshot with an immediate answer; returns its job."""
        opening = asyncio.create_task(self.snapshots.open_snapshot(request))
        (await self.asked.get()).set()
        return (await opening).job


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

    search.serve(MANIFEST, manifest, deadline_s=DEADLINE_S)
    await search.start()
    await bus.start()
    model_versions = Records(await open_bucket(bus.js, names.KV_MODEL_VERSIONS), ModelVersion)
    for key in (CHUNKER_KEY, FAST_MODEL_KEY):
        await model_versions.put(key, ModelVersion(version="1"))
    metrics = CollectorRegistry()
    app = await build(bus, settings, Vault(VaultSettings()), metrics)
    yield Ingest(app.snapshots, app.jobs, app.ledger, app.histories, asked, metrics)
    await bus.stop()
    await search.stop()


def settled(job: Job, files: list[SettledFile]) -> FilesSettled:
    return FilesSettled(tenant=job.tenant, job=job.job, files=tuple(files))


@pytest.mark.parametrize("settled_meanwhile", [1, 2], ids=["some files", "all files"])
async def test_a_second_plan_keeps_settled_files(ingest: Ingest, settled_meanwhile) -> None:
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
    searchable = {
        source: ingest.metrics.get_sample_value("prism_searchable_seconds_count", {"source": source})
        for source in ("push", "upload")
    }
    assert searchable == {"push": 0, "upload": 1}


async def test_a_history_is_kept_until_a_snapshot_replaces_it(ingest: Ingest) -> None:
    async with asyncio.timeout(DEADLINE_S):
        opened = await ingest.open(REQUEST.model_copy(update={"history": HISTORY}))
        files = [
            SettledFile(path=file.path, ordinal=ordinal, outcome=Outcome.INDEXED)
            for ordinal, file in enumerate(FILES)
        ]
        await ingest.jobs.on_settled(settled(opened, files))
        silent = await ingest.open(REQUEST.model_copy(update={"snapshot": "without a history"}))
        kept = await ingest.histories.get(opened.tenant, opened.repo)
    assert silent.version > opened.version
    assert kept == HISTORY.model_copy(update={"version": opened.version})


async def test_another_tenant_cannot_upload_to_a_job_or_fail_it(ingest: Ingest) -> None:
    async with asyncio.timeout(DEADLINE_S):
        job = await ingest.open(REQUEST)
        admitted = await ingest.snapshots.admit_upload(AdmitUploadRequest(tenant="t", job=job.job))
        assert admitted == AdmitUploadReply(is_open=True, bytes_max=len(FILES))
        for tenant, name in (("stranger", job.job), ("t", "unknown")):
            with pytest.raises(PrismError) as caught:
                await ingest.snapshots.admit_upload(AdmitUploadRequest(tenant=tenant, job=name))
            assert caught.value.code is ErrorCode.JOB_NOT_FOUND
        foreign = FilesUploaded(tenant="stranger", job=job.job, pack="0" * 64, data=b"junk")
        await ingest.snapshots.on_uploaded(foreign)
        await ingest.jobs.on_dead_letter(_letter(foreign))
        assert (await ingest.ledger.jobs.get(job.job)).state is JobState.INDEXING
        await ingest.jobs.on_dead_letter(_letter(foreign.model_copy(update={"tenant": "t"})))
        assert (await ingest.ledger.jobs.get(job.job)).state is JobState.FAILED
        ended = await ingest.snapshots.admit_upload(AdmitUploadRequest(tenant="t", job=job.job))
        assert not ended.is_open
    labels = {"consumer": "ingest", "code": "message_invalid"}
    assert ingest.metrics.get_sample_value("prism_dead_letters_total", labels) == 2


def _letter(pack: FilesUploaded) -> DeadLetter:
    return DeadLetter(
        body=pack.model_dump_json().encode(),
        subject=topics.FILES_UPLOADED.subject(Lane.BULK),
        consumer="ingest",
        code=ErrorCode.MESSAGE_INVALID.value,
        reason="The pack is damaged.",
    )
