"""Which job may change a repository, on the records of a real nats-server."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import nats
import pytest

from prism_contracts.base import BASE_LAYER, Lane, repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import UPLOAD, Job, JobState
from prism_ingest.adapters.ledger import CLONING_PATIENCE, Ledger, Origin
from prism_ingest.core import new_job

IDLE_S = 300


@pytest.fixture
async def ledger(nats_server) -> AsyncIterator[Ledger]:
    client = await nats.connect(nats_server.url)
    yield await Ledger.open(client.jetstream(), replicas=1)
    await client.close()


def job(snapshot: str, idle_s: float = 0.0) -> Job:
    return new_job(
        key=b"k", tenant="t", repo=repo_id("acme/parcel-tracker"), repo_name="acme/parcel-tracker", layer=BASE_LAYER, lane=Lane.BULK, snapshot=snapshot,
        state=JobState.INDEXING, now=datetime.now(UTC) - timedelta(seconds=idle_s),
    )  # fmt: skip


async def test_no_job_begins_while_another_makes_progress(ledger) -> None:
    first = await ledger.begin(job("one"), Origin(UPLOAD), IDLE_S)
    with pytest.raises(PrismError) as caught:
        await ledger.begin(job("two"), Origin(UPLOAD), IDLE_S)
    assert caught.value.code is ErrorCode.SNAPSHOT_CONFLICT
    assert await ledger.begin(job("one"), Origin(UPLOAD), IDLE_S) == first


async def test_an_idle_job_is_abandoned_when_the_next_begins(ledger) -> None:
    first = await ledger.begin(job("one", idle_s=IDLE_S + 1), Origin(UPLOAD), IDLE_S)
    second = await ledger.begin(job("two"), Origin(UPLOAD), IDLE_S)
    assert second.version > first.version
    given_up = await ledger.jobs.get(first.job)
    assert given_up is not None
    assert (given_up.state, given_up.error.code) == (JobState.ABANDONED, ErrorCode.JOB_ABANDONED)


async def test_a_clone_may_be_idle_for_longer(ledger) -> None:
    cloning = {"state": JobState.CLONING}
    slow = job("one", idle_s=CLONING_PATIENCE * IDLE_S - 60).model_copy(update=cloning)
    await ledger.begin(slow, Origin(UPLOAD), IDLE_S)
    with pytest.raises(PrismError) as caught:
        await ledger.begin(job("two"), Origin(UPLOAD), IDLE_S)
    assert caught.value.code is ErrorCode.SNAPSHOT_CONFLICT
    await ledger.release(slow)
    lost = job("three", idle_s=CLONING_PATIENCE * IDLE_S + 60).model_copy(update=cloning)
    await ledger.begin(lost, Origin(UPLOAD), IDLE_S)
    await ledger.begin(job("four"), Origin(UPLOAD), IDLE_S)


async def test_only_one_of_two_concurrent_jobs_begins(ledger) -> None:
    began = await asyncio.gather(
        *(ledger.begin(job(name), Origin(UPLOAD), IDLE_S) for name in ("one", "two", "three")),
        return_exceptions=True,
    )
    refused = [error for error in began if isinstance(error, PrismError)]
    assert [error.code for error in refused] == [ErrorCode.SNAPSHOT_CONFLICT] * 2


async def test_a_job_that_was_removed_does_not_begin_again(ledger) -> None:
    begun = await ledger.begin(job("one"), Origin(UPLOAD), IDLE_S)
    await ledger.release(begun)
    await ledger.jobs.delete(begun.job)
    with pytest.raises(PrismError) as caught:
        await ledger.begin(begun, Origin(UPLOAD), IDLE_S)
    assert caught.value.code is ErrorCode.JOB_NOT_FOUND
    assert await ledger.jobs.get(begun.job) is None


async def test_an_edit_does_not_change_the_remote_head(ledger) -> None:
    origin = Origin("https://git.example.org/acme/parcel-tracker")
    first = await ledger.begin(job("one"), origin, IDLE_S)
    await ledger.record_remote_head(first.tenant, first.repo, BASE_LAYER, "new", datetime.now(UTC))
    await ledger.release(first)
    await ledger.begin(job("two").model_copy(update={"commit": "old"}), origin, IDLE_S)
    assert (await ledger.repositories.get(f"t.{first.repo}")).head_commit == "new"


async def test_a_push_waits_for_the_active_job_and_only_for_one(ledger) -> None:
    first = await ledger.begin(job("one"), Origin("https://git.example.org/acme/parcel-tracker"), IDLE_S)
    assert await ledger.postpone(job("two"))
    assert await ledger.postpone(job("three"))
    freed = await ledger.release(first)
    assert (freed.active_job, freed.is_pushed) == ("", True)
    await ledger.forget_push(first)
    assert not await ledger.postpone(job("four"))
    assert not (await ledger.repositories.get(freed.key)).is_pushed
