"""Whose files may be on their way through the stages."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from nats.errors import Error as NatsError

from prism_contracts.base import Lane
from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.events import FileChanged, FileEvent, FileRemoved, Outcome, SettledFile
from prism_contracts.records import Job, JobState
from prism_ingest.adapters import file_window
from prism_ingest.adapters.file_window import FORGOTTEN_S, RECENT_S, UNIT_BYTES, FileWindow, WindowLimits
from prism_ingest.core import apply_settled, fail_job, new_job

LIMITS = WindowLimits(alone=12, shared=8, of_tenant_min=2)
FILES = 40
NOW = datetime(2026, 3, 14, tzinfo=UTC)


class Street:
    """Tenants that publish files of one job each, and the records of their jobs."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.jobs: dict[str, Job] = {}
        self.error: Exception | None = None
        self.window = FileWindow(self._job_of, LIMITS, clock=lambda: self.now_s)
        self.entered: list[str] = []  # tenants, in order
        self.tasks: list[asyncio.Task[None]] = []

    async def _job_of(self, job: str) -> Job | None:
        if error := self.error:
            self.error = None
            raise error
        return self.jobs.get(job)

    async def come(self, tenant: str, files: int, size_bytes: int = 10) -> None:
        """Have a tenant publish the next files of its job."""
        if tenant not in self.jobs:
            self.jobs[tenant] = planned(tenant)
        first = sum(task.get_name() == tenant for task in self.tasks)
        for ordinal in range(first, first + files):
            entering = self._enter(changed(tenant, ordinal, size_bytes))
            self.tasks.append(asyncio.create_task(entering, name=tenant))
        await turns()

    async def _enter(self, event: FileEvent) -> None:
        await self.window.enter(event)
        self.entered.append(event.tenant)

    def settle(self, tenant: str, ordinals: range) -> None:
        files = [SettledFile(path="a", ordinal=one, outcome=Outcome.INDEXED) for one in ordinals]
        self.jobs[tenant] = apply_settled(self.jobs[tenant], files, NOW)

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.entered)

    async def until(self, **counts: int) -> None:
        """Wait until so many files of tenants have entered."""
        async with asyncio.timeout(10):
            while self.counts != counts:
                await asyncio.sleep(0.01)


def planned(tenant: str) -> Job:
    job = new_job(
        key=b"k", tenant=tenant, repo="r", repo_name="acme/app", layer="base", lane=Lane.BULK, snapshot="s",
        state=JobState.INDEXING, now=NOW,
    )  # fmt: skip
    return job.model_copy(update={"job": tenant, "expected": FILES, "settled": bytes(FILES // 8)})


def changed(tenant: str, ordinal: int, size_bytes: int) -> FileChanged:
    return FileChanged(
        tenant=tenant, repo="r", path=f"{ordinal}.py", version=1, job=tenant, ordinal=ordinal, lane=Lane.BULK,
        blob="b", size_bytes=size_bytes, text="",
    )  # fmt: skip


async def turns() -> None:
    """Run every task until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
async def street(monkeypatch) -> AsyncIterator[Street]:
    monkeypatch.setattr(file_window, "LOOK_S", 0.01)
    monkeypatch.setattr(file_window, "LOOK_AGAIN_S", 0.01)
    made = Street()
    yield made
    for task in made.tasks:
        task.cancel()
    await asyncio.gather(*made.tasks, return_exceptions=True)
    assert not made.window._waiting
    await asyncio.sleep(0.02)  # the last look ends


async def test_a_tenant_alone_has_the_whole_window(street: Street) -> None:
    await street.come("large", FILES)
    assert street.counts == {"large": LIMITS.alone}


async def test_a_second_tenant_waits_for_no_file_of_the_first(street: Street) -> None:
    await street.come("large", FILES)
    await street.come("small", 4)
    assert street.counts == {"large": LIMITS.alone, "small": 4}


async def test_the_first_tenant_makes_room_for_the_second(street: Street) -> None:
    await street.come("large", FILES)
    await street.come("small", FILES)
    street.settle("large", range(8))
    await asyncio.sleep(0.05)
    assert street.counts == {"large": 12, "small": 4}
    street.settle("large", range(10))
    await street.until(large=14, small=4)


async def test_a_tenant_that_has_ended_leaves_its_share(street: Street) -> None:
    await street.come("small", 4)
    await street.come("large", FILES - 1)
    assert street.counts == {"small": 4, "large": 4}
    street.settle("small", range(4))
    await street.until(small=4, large=LIMITS.shared)


async def test_a_tenant_has_the_whole_window_when_no_other_has_imported_for_a_while(street: Street) -> None:
    await street.come("small", 4)
    await street.come("large", FILES - 1)
    street.settle("small", range(4))
    await street.until(small=4, large=LIMITS.shared)
    street.now_s = RECENT_S
    await street.come("large", 1)
    await street.until(small=4, large=LIMITS.alone)


async def test_many_tenants_keep_a_smallest_share(street: Street) -> None:
    for number in range(10):
        await street.come(f"t{number}", 3)
    assert street.counts["t9"] == LIMITS.of_tenant_min


async def test_large_files_count_more_and_one_always_enters(street: Street) -> None:
    await street.come("large", 8, size_bytes=UNIT_BYTES)
    assert street.counts == {"large": LIMITS.alone // 2}
    await street.come("huge", 2, size_bytes=100 * UNIT_BYTES)
    assert street.counts == {"large": LIMITS.alone // 2, "huge": 1}


@pytest.mark.parametrize("ended", ["failed", "gone"])
async def test_files_of_an_ended_job_make_room(street: Street, ended) -> None:
    await street.come("large", FILES)
    if ended == "gone":
        del street.jobs["large"]
    else:
        street.jobs["large"] = fail_job(
            street.jobs["large"], ErrorBody(code=ErrorCode.INTERNAL, message=""), NOW
        )
    await street.until(large=FILES)


async def test_a_file_that_never_settles_stops_counting(street: Street) -> None:
    await street.come("large", FILES)
    street.now_s = FORGOTTEN_S
    await street.until(large=2 * LIMITS.alone)


async def test_a_file_that_is_published_twice_counts_once(street: Street) -> None:
    for _ in range(2):
        for ordinal in range(LIMITS.alone // 2):
            await street.window.enter(changed("t", ordinal, 10))
    await street.come("t", 0)
    await asyncio.wait_for(street.window.enter(changed("t", FILES - 1, 10)), 10)


async def test_an_error_of_nats_is_outlasted(street: Street) -> None:
    street.error = NatsError("down")
    await street.come("large", LIMITS.alone + 1)
    street.settle("large", range(1))
    await street.until(large=LIMITS.alone + 1)


async def test_who_gives_up_leaves_the_queue(street: Street) -> None:
    await street.come("large", LIMITS.alone + 2)
    street.tasks[LIMITS.alone].cancel()
    street.settle("large", range(1))
    await street.until(large=LIMITS.alone + 1)
    removed = FileRemoved(
        tenant="other", repo="r", path="a", version=1, job="other", ordinal=0, lane=Lane.BULK
    )
    await street.window.enter(removed)
