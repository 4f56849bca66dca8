"""How pages write the stages of an import, and commits."""

from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.base import Lane
from prism_contracts.records import NO_TREE, Job, JobState
from prism_gateway.console.formats import commit, stages


@pytest.mark.parametrize(
    ("state", "fetched", "planned", "shown"),
    [
        (JobState.CLONING, None, None, ["fetching for 1 min"]),
        (JobState.INDEXING, None, None, ["comparing with the index for 1 min"]),
        (JobState.INDEXING, None, 20.5, ["compared in 20 s", "indexing for 1 min"]),
        (JobState.INDEXING, 10, 10.2, ["fetched in 10 s", "compared in under 1 s", "indexing for 1 min"]),
    ],
)
def test_stages_have_their_times(
    state: JobState, fetched: float | None, planned: float | None, shown: list[str]
) -> None:
    created = datetime.now(UTC) - timedelta(seconds=90)

    def at(seconds: float | None) -> datetime | None:
        return None if seconds is None else created + timedelta(seconds=seconds)

    job = Job(
        job="j",
        tenant="t",
        repo="r",
        repo_name="a/a",
        lane=Lane.BULK,
        state=state,
        created_at=created,
        fetched_at=at(fetched),
        planned_at=at(planned),
        updated_at=created,
    )
    assert stages(job) == shown


def test_a_commit_is_short_and_none_is_none() -> None:
    assert commit("a" * 40) == "aaaaaaa"
    assert commit("tree:" + "b" * 64) == "tree:bbbbbbb"
    assert commit(NO_TREE) == "no commit"
