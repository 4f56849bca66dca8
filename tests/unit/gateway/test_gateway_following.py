"""Progress notifications of a job, and the calls that follow it."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job, JobState
from prism_contracts.rpc.imports import JOB, JobReply
from prism_gateway.callers import Caller
from prism_gateway.mcp import following
from prism_gateway.mcp.following import WAIT_S_WITH_PROGRESS, FollowingArguments, JobProgress, follow
from prism_gateway.mcp.tool import Call

AT = datetime(2026, 11, 25, tzinfo=UTC)
EXPECTED = 200


def a_job(settled: int = 0, state: JobState = JobState.INDEXING, expected: int = EXPECTED) -> Job:
    return Job(
        job="j",
        tenant="t",
        repo="r",
        repo_name="acme/app",
        lane=Lane.BULK,
        state=state,
        expected=expected,
        settled=((1 << settled) - 1).to_bytes(expected // 8 + 1, "little"),
        created_at=AT,
        updated_at=AT,
    )


CLONING = a_job(0, JobState.CLONING, expected=0)
DONE = a_job(0, JobState.COMPLETE).model_copy(
    update={"settled": b"", "finished_at": AT + timedelta(seconds=9)}
)


def test_a_message_has_files_percentage_and_time_left() -> None:
    progress = JobProgress()
    assert progress.look(CLONING, 0.0).message == "fetching acme/app"
    assert progress.look(a_job(0), 1.0).message == "indexing acme/app: 0 of 200 files, 0 %"
    assert progress.look(a_job(20), 2.0) == (10.0, "indexing acme/app: 20 of 200 files, 10 %")
    percent, message = progress.look(a_job(50), 5.0)  # 30 files in 3 s: 15 s for the other 150
    assert (percent, message) == (25.0, "indexing acme/app: 50 of 200 files, 25 %, about 15 s left")
    assert progress.look(DONE, 9.0) == (100.0, "complete acme/app: 200 of 200 files, 100 %")


@pytest.mark.parametrize(("seconds", "shown"), [(10, "30 s"), (200, "10 min"), (4000, "3.3 h")])
def test_the_time_left_has_a_readable_unit(seconds: float, shown: str) -> None:
    progress = JobProgress()
    progress.look(a_job(1), 0.0)
    assert progress.look(a_job(51), seconds).message.endswith(f", about {shown} left")


@given(st.lists(st.integers(0, EXPECTED), max_size=50), st.booleans())
def test_progress_only_grows_and_is_complete_at_the_end_only(looks: list[int], is_cloned: bool) -> None:
    progress = JobProgress()
    jobs = [CLONING] * is_cloned + [a_job(settled) for settled in looks]
    percents = [progress.look(job, number / 3).percent for number, job in enumerate(jobs)]
    assert all(before < after for before, after in pairwise(percents))
    assert all(percent < 100 for percent in percents)
    assert progress.look(DONE, 99.0).percent == 100


def test_a_job_that_stands_still_long_does_not_reach_the_end() -> None:
    progress = JobProgress()
    percents = [progress.look(a_job(EXPECTED), number).percent for number in range(1000)]
    assert percents == sorted(set(percents))
    assert percents[-1] < 100


@dataclass
class FakeIngest:
    """Answers looks with the next job or error."""

    replies: list[Job | PrismError]
    is_full: bool = False
    caller: ClassVar[Caller] = Caller("t", frozenset(), "token:1", "ci")
    waiting_now: int = 0
    looks: list[int] = field(default_factory=list)

    async def ask(self, rpc: Any, request: Any) -> JobReply:
        assert (rpc, request.tenant, request.job) == (JOB, "t", "j")
        self.looks.append(self.waiting_now)
        reply = self.replies.pop(0)
        if isinstance(reply, PrismError):
            raise reply
        return JobReply(job=reply)

    def reporting(self) -> "FakeIngest":
        return self

    @asynccontextmanager
    async def waiting(self) -> Any:
        if self.is_full:
            raise PrismError(ErrorCode.RATE_LIMITED, "full")
        self.waiting_now += 1
        yield
        self.waiting_now -= 1


@dataclass
class Clock:
    """A clock that only sleeping moves."""

    now_s: float = 0.0

    def monotonic(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(following.time, "monotonic", clock.monotonic)
    monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    return clock


def a_call(ingest: FakeIngest, sent: list[tuple[float, float | None, str | None]] | None = None) -> Call:
    async def report(progress: float, total: float | None, message: str | None) -> None:
        assert sent is not None
        sent.append((progress, total, message))

    return Call(ingest, "", "", "", 1, None, None if sent is None else report)  # type: ignore[arg-type]


async def test_a_job_is_followed_to_its_end_with_notifications(clock: Clock) -> None:
    ingest, sent = FakeIngest([a_job(50), a_job(100), DONE]), []
    assert await follow(a_call(ingest, sent), CLONING, FollowingArguments(wait_s=60)) == DONE
    assert [round(percent) for percent, _, _ in sent] == [0, 25, 50, 100]
    assert {total for _, total, _ in sent} == {100}
    assert ingest.looks == [1, 1, 1]
    assert ingest.waiting_now == 0


async def test_a_call_without_progress_waits_in_silence(clock: Clock) -> None:
    assert await follow(a_call(FakeIngest([a_job(50), DONE])), CLONING, FollowingArguments(wait_s=60)) == DONE


async def test_the_wait_ends_in_time(clock: Clock) -> None:
    ingest = FakeIngest([a_job(1)] * 1000)
    assert await follow(a_call(ingest, []), a_job(0), FollowingArguments(wait_s=45)) == a_job(1)
    assert clock.now_s == pytest.approx(45)
    assert len(ingest.looks) < 100


async def test_without_a_wait_nothing_is_asked(clock: Clock) -> None:
    assert await follow(a_call(FakeIngest([])), a_job(3), FollowingArguments(wait_s=0)) == a_job(3)
    assert await follow(a_call(FakeIngest([])), DONE, FollowingArguments(wait_s=60)) == DONE


@pytest.mark.parametrize(
    "ingest", [FakeIngest([], is_full=True), FakeIngest([PrismError(ErrorCode.UNAVAILABLE, "no answer")])]
)
async def test_a_job_that_cannot_be_followed_is_returned_as_it_was(ingest: FakeIngest, clock: Clock) -> None:
    assert await follow(a_call(ingest, []), a_job(3), FollowingArguments(wait_s=60)) == a_job(3)


async def test_the_default_wait_depends_on_whether_the_client_shows_progress(clock: Clock) -> None:
    running = a_job(1)
    assert await follow(a_call(FakeIngest([])), running, FollowingArguments()) == running
    await follow(a_call(FakeIngest([running] * 1000), []), running, FollowingArguments())
    assert clock.now_s == pytest.approx(WAIT_S_WITH_PROGRESS)
    assert await follow(a_call(FakeIngest([]), []), running, FollowingArguments(wait_s=0)) == running
