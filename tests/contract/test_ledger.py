"""Who may change a repository, on the records of a real nats-server."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import nats
import pytest

from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job, JobState
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core import new_job

IDLE_S = 300


@pytest.fixture
async def ledger(nats_server) -> AsyncIterator[Ledger]:
    client = await nats.connect(nats_server.url)
    yield await Ledger.open(client.jetstream(), replicas=1)
    await client.close()


def job(snapshot: str, idle_s: float = 0.0) -> Job:
    return new_job(
        tenant="t", repo_name="acme/parcel-tracker", layer=BASE_LAYER, lane=Lane.BULK, snapshot=snapshot,
        state=JobState.INDEXING, now=datetime.now(UTC) - timedelta(seconds=idle_s),
    )  # fmt: skip


async def test_while_a_job_makes_progress_no_other_begins(ledger) -> None:
    first = await ledger.begin(job("one"), "upload", "", IDLE_S)
    with pytest.raises(PrismError) as caught:
        await ledger.begin(job("two"), "upload", "", IDLE_S)
    assert caught.value.code is ErrorCode.SNAPSHOT_CONFLICT
    assert await ledger.begin(job("one"), "upload", "", IDLE_S) == first


async def test_a_job_without_progress_is_given_up_and_says_so_when_the_next_one_comes(ledger) -> None:
    first = await ledger.begin(job("one", idle_s=IDLE_S + 1), "upload", "", IDLE_S)
    second = await ledger.begin(job("two"), "upload", "", IDLE_S)
    assert second.version > first.version
    given_up = await ledger.jobs.get(first.job)
    assert given_up is not None
    assert (given_up.state, given_up.error.code) == (JobState.ABANDONED, ErrorCode.JOB_ABANDONED)
