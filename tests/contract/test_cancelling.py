"""Cancelled jobs: their queued files are skipped, and what is served stays."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from crashing import ended_at, writes_watched
from layers_stack import NAME, TENANT, Town, town

from prism_contracts import names
from prism_contracts.base import Lane, repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileRemoved
from prism_contracts.records import CancelledJob, JobState
from prism_contracts.rpc.imports import CancelJobRequest, CloneRequest, JobRequest
from prism_indexer.main import build
from prism_indexer.settings import IndexerSettings
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_store.gate import connect
from prism_store.settings import StoreSettings

FILES = 300


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


async def begun_import(place: Town) -> str:
    """Begins an import whose files wait, and returns its job."""
    place.index.may_index.clear()
    place.commit({f"new/{number}.py": f"{number}\n" for number in range(FILES)})
    job = (await place.clones.clone(CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME))).job

    async def is_planned() -> bool:
        found = await place.ledger.jobs.get(job.job)
        return found is not None and found.expected >= FILES

    await place.until(is_planned)
    return job.job


async def test_a_cancelled_job_ends_and_the_served_commit_stays(place: Town) -> None:
    served = (await place.repository()).served
    job = await begun_import(place)
    cancelled = (await place.jobs.cancel(CancelJobRequest(tenant=TENANT, job=job))).job
    place.index.may_index.set()
    assert cancelled.state is JobState.CANCELLED
    assert cancelled.error is not None
    assert cancelled.error.code is ErrorCode.JOB_CANCELLED
    repository = await place.repository()
    assert (repository.served, repository.active_job) == (served, "")
    assert repository.unfinished == job  # receipts say that files may be newer
    again = (await place.jobs.cancel(CancelJobRequest(tenant=TENANT, job=job))).job
    assert again.finished_at == cancelled.finished_at


async def test_the_next_import_begins_at_once(place: Town) -> None:
    job = await begun_import(place)
    await place.jobs.cancel(CancelJobRequest(tenant=TENANT, job=job))
    place.index.may_index.set()
    await place.index_base()
    assert place.base() == place.tree("main")


async def test_only_its_tenant_may_cancel_a_job(place: Town) -> None:
    job = await begun_import(place)
    with pytest.raises(PrismError) as refused:
        await place.jobs.cancel(CancelJobRequest(tenant="other", job=job))
    assert refused.value.code is ErrorCode.JOB_NOT_FOUND
    place.index.may_index.set()
    assert (await place.jobs.job(JobRequest(tenant=TENANT, job=job))).job.state is JobState.INDEXING


async def test_a_cancelled_job_publishes_no_more_files(place: Town) -> None:
    records = Records(await open_bucket(place.bus.js, names.KV_CANCELLED_JOBS), CancelledJob)
    place.index.may_index.clear()
    place.commit({"late.py": "late\n"})
    job = (await place.clones.clone(CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME))).job
    await records.put(job.job, CancelledJob(tenant=TENANT, job=job.job, at=datetime.now(UTC)))
    place.index.may_index.set()
    await place.recovery.round(datetime.now(UTC))
    assert (await place.ended(job)).state is JobState.CANCELLED


async def test_a_crash_while_cancelling_is_finished_by_the_next_round(nats_server, tmp_path) -> None:
    with writes_watched():
        async with town(nats_server, tmp_path) as place:
            for write in (1, 2, 3):
                job = await begun_import(place)
                request = CancelJobRequest(tenant=TENANT, job=job)
                name = await ended_at(lambda request=request: place.jobs.cancel(request), write)
                assert name, write
                if write == 1:  # nothing was written yet: the caller repeats
                    await place.jobs.cancel(request)
                await place.recovery.start()
                place.index.may_index.set()
                found = await place.ledger.jobs.get(job)
                assert found is not None
                assert found.state is JobState.CANCELLED
                assert (await place.repository()).active_job == ""
                await place.index_base()


async def test_the_indexer_writes_no_file_of_a_cancelled_job(nats_server) -> None:
    settings = IndexerSettings(nats_url=nats_server.url)
    bus = Bus("indexer", settings)
    await bus.start()
    ttl_s = names.CANCELLED_JOBS_MAX_AGE_S
    records = Records(await open_bucket(bus.js, names.KV_CANCELLED_JOBS, ttl_s=ttl_s), CancelledJob)
    await records.put("j", CancelledJob(tenant="t", job="j", at=datetime.now(UTC)))
    qdrant = connect(StoreSettings())  # not requested
    app = await build(bus, settings, qdrant)
    event = FileRemoved(
        tenant="t", repo=repo_id("acme/new"), path="a.py", version=1, job="j", ordinal=0, lane=Lane.LIVE
    )
    await app.files.on_removed(event)
    state = (await bus.js.stream_info("PRISM_SETTLED")).state
    assert state.messages == 0
    await bus.stop()
    await qdrant.close()
