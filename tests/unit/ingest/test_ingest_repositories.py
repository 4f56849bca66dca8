from datetime import UTC, datetime

import pytest

from prism_contracts.base import Lane
from prism_contracts.records import Job, JobState, LayerState, Repository
from prism_contracts.rpc.repositories import IndexState
from prism_ingest.core.repositories import state_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SERVED = LayerState(commit="a" * 40, version=1, job="j", indexed_at=NOW)


def repository(served: LayerState | None = None, active_job: str = "") -> Repository:
    return Repository(
        tenant="t",
        repo="r",
        name="a/b",
        source="upload",
        created_at=NOW,
        served=served,
        active_job=active_job,
    )


def job(state: JobState) -> Job:
    return Job(
        job="j",
        tenant="t",
        repo="r",
        repo_name="a/b",
        lane=Lane.BULK,
        state=state,
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    ("known", "last", "state"),
    [
        (repository(), None, IndexState.REGISTERED),
        (repository(), job(JobState.CANCELLED), IndexState.REGISTERED),
        (repository(active_job="j"), job(JobState.CLONING), IndexState.INDEXING),
        (repository(SERVED, active_job="k"), job(JobState.FAILED), IndexState.INDEXING),
        (repository(SERVED), None, IndexState.INDEXED),
        (repository(SERVED), job(JobState.COMPLETE_WITH_ERRORS), IndexState.INDEXED),
        (repository(SERVED), job(JobState.CANCELLED), IndexState.INDEXED),
        (repository(SERVED), job(JobState.FAILED), IndexState.FAILED),
        (repository(), job(JobState.ABANDONED), IndexState.FAILED),
    ],
)
def test_the_state_follows_from_the_record_and_the_last_job(known, last, state) -> None:
    assert state_of(known, last) is state
