"""Removes repositories: nothing answers for one from the first writes on, and its data is deleted afterwards.

The record of its name is written first, and drives the rest: every process repeats the remaining steps, which
are idempotent, until they are done. Work on the repository that was running at its removal may write once
more. So everything is deleted again, several times, and only after `SETTLES` is the removal finished.
"""

import asyncio
import contextlib
import logging
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from prism_catalog.repository_names import Leftover
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import JobState, Repository, repository_key
from prism_contracts.rpc.repositories import (
    DROP_POINTS,
    DropPointsRequest,
    RemoveRepositoryRequest,
)
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.leftovers import Leftovers
from prism_ingest.adapters.mirrors import Mirrors
from prism_ingest.adapters.plans import PlanStore
from prism_ingest.core import is_final
from prism_ingest.operations.cancelling import Cancelling
from prism_ingest.operations.job_tracker import ENDED_WELL
from prism_runtime.bus import Bus

# Longer than anything that is running at the removal: a clone, the build of a graph, a write to the store.
SETTLES = timedelta(hours=1)
PAUSE = timedelta(minutes=1)
ROUND_S = 60.0
RETRY_S = 5.0
DROP_TIMEOUT_S = 15.0

log = logging.getLogger(__name__)


class Removed(NamedTuple):
    """A removed repository, and how many of its jobs were running."""

    repository: Repository
    jobs_cancelled: int


class Removals:
    """Removals of repositories."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        *,
        leftovers: Leftovers,
        plans: PlanStore,
        mirrors: Mirrors,
        cancelling: Cancelling,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._leftovers = leftovers
        self._plans = plans
        self._mirrors = mirrors
        self._cancelling = cancelling
        self._removed = asyncio.Event()
        self._deleted: dict[str, datetime] = {}  # by id: when everything was deleted last
        self._has_failed = False

    async def find(self, request: RemoveRepositoryRequest) -> Repository:
        """Returns the repository to remove. Raises REPO_NOT_FOUND.

        It may be one whose removal a process began that died before anyone could notice.
        """
        try:
            return await self._ledger.seen_by(request, request.repo)
        except PrismError as error:
            if error.code is not ErrorCode.REPO_NOT_FOUND:
                raise
            for gone in await self._ledger.names.removed(request.tenant, request.repo):
                known = await self._ledger.repositories.get(repository_key(request.tenant, gone.repo))
                if known is not None and request.sees(known.name):
                    return known
            raise

    async def remove(self, repository: Repository) -> Removed:
        """Remove a repository and cancel its jobs. The next round deletes its data. Idempotent.

        Its name may be used again when this returns. Raises RATE_LIMITED.
        """
        log.info("removing %s of %s", repository.name, repository.tenant)
        await self._ledger.names.remove(repository, datetime.now(UTC))
        await self._ledger.drop_repository(repository.tenant, repository.repo)
        running = await self._end_jobs(repository.tenant, repository.repo, is_last=False)
        self._removed.set()
        return Removed(repository, running)

    async def run(self) -> None:
        """Delete what is left of removed repositories, now, after each removal and regularly, until cancelled."""
        while True:
            self._removed.clear()
            try:
                await self.round(datetime.now(UTC))
            except Exception as error:  # noqa: BLE001 - the next round runs in any case
                log.warning("cannot delete what is left of removed repositories: %s", reason_of(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._removed.wait(), RETRY_S if self._has_failed else ROUND_S)

    async def round(self, now: datetime) -> None:
        """Delete what is left of removed repositories at `now`."""
        self._has_failed = False
        for leftover in await self._ledger.names.leftovers():
            if not self._is_due(leftover, now):
                continue
            try:
                await self._delete(leftover, now)
            except Exception as error:  # noqa: BLE001 - the next round repeats it
                self._has_failed = True
                log.warning("cannot delete what is left of %s: %s", leftover.name, reason_of(error))
        await self._mirrors.drop_unknown(self._places)

    def _is_due(self, leftover: Leftover, now: datetime) -> bool:
        """Whether to delete everything: at once, then after a minute, three, seven and so on."""
        deleted = self._deleted.get(leftover.repo)
        age = now - leftover.removed_at
        return deleted is None or age >= min(SETTLES, 2 * (deleted - leftover.removed_at) + PAUSE)

    async def _delete(self, leftover: Leftover, now: datetime) -> None:
        tenant, repo = leftover.tenant, leftover.repo
        is_last = now - leftover.removed_at >= SETTLES
        await self._ledger.drop_repository(tenant, repo)
        await self._end_jobs(tenant, repo, is_last=is_last)
        await self._leftovers.delete(tenant, repo)
        await self._drop_points(tenant, repo)
        self._deleted[repo] = now
        if is_last:
            await self._ledger.names.finish(leftover)
            self._deleted.pop(repo)
            log.info("nothing is left of %s of %s", leftover.name, tenant)

    async def _drop_points(self, tenant: str, repo: str) -> None:
        request = DropPointsRequest(tenant=tenant, repo=repo)
        while not (await self._bus.ask(DROP_POINTS, request, timeout_s=DROP_TIMEOUT_S)).is_done:
            pass

    async def _end_jobs(self, tenant: str, repo: str, *, is_last: bool) -> int:
        """Delete the records of jobs, have their queued files skipped, and cancel running ones.

        A cancelled job remains until the last round, because its client asks how it ended. Returns the number
        of jobs that were running.
        """
        jobs = [job for job in await self._ledger.jobs.all() if (job.tenant, job.repo) == (tenant, repo)]
        running = 0
        for job in jobs:
            if job.state not in ENDED_WELL:
                running += await self._cancelling.cancel_for_good(job, "Its repository was removed.")
            await self._plans.drop(job.job)
            if is_last or (is_final(job) and job.state is not JobState.CANCELLED):
                await self._ledger.jobs.delete(job.job)
        return running

    async def _places(self) -> set[tuple[str, str]]:
        """Returns tenant and id of every repository."""
        return {(one.tenant, one.repo) for one in await self._ledger.repositories.all()}
