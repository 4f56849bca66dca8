"""What the plan of a tenant allows ingest to begin, and how much of it is in use.

Uses are counted in the records, so the limits hold over all copies of ingest. Two copies that begin something
at the same moment may each begin the last one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from prism_catalog.tenants import Tenants, limit_exceeded
from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.records import Job, JobState, Layer, Limit, Repository, repository_key
from prism_ingest.core import is_final
from prism_runtime.records import Records, WatchedRecords


class Quotas:
    """The limits `repositories` and `imports_at_once`. Tenants without these limits cost nothing."""

    def __init__(
        self,
        tenants: Tenants,
        repositories: WatchedRecords[Repository],
        layers: WatchedRecords[Layer],
        jobs: Records[Job],
        *,
        idle_s: float,
    ) -> None:
        """A job that made no progress for `idle_s` does not count as running."""
        self._tenants = tenants
        self._repositories = repositories
        self._layers = layers
        self._jobs = jobs
        self._idle = timedelta(seconds=idle_s)
        self._beginning = asyncio.Lock()

    @asynccontextmanager
    async def admitted(self, job: Job) -> AsyncIterator[None]:
        """Check that a job may begin, and hold off others until it has. Raises LIMIT_EXCEEDED.

        Imports that fetch begin without a check, and wait for their turn; see `is_next`.
        """
        limits = self._tenants.limits_of(job.tenant)
        repositories, imports = limits.get(Limit.REPOSITORIES), limits.get(Limit.IMPORTS_AT_ONCE)
        if repositories is None and imports is None:
            yield
            return
        async with self._beginning:
            await self._repositories.catch_up()
            await self._layers.catch_up()
            if repositories is not None and job.layer == BASE_LAYER:
                self._check_repositories(job.tenant, job.repo, repositories)
            if imports is not None and job.lane is Lane.BULK and job.state is JobState.INDEXING:
                await self._check_imports(job, imports)
            yield

    @asynccontextmanager
    async def admitted_repository(self, tenant: str, repo: str) -> AsyncIterator[None]:
        """Check that a tenant may have a repository, and hold off others until it does. Raises LIMIT_EXCEEDED."""
        allowed = self._tenants.limit_of(tenant, Limit.REPOSITORIES)
        if allowed is None:
            yield
            return
        async with self._beginning:
            await self._repositories.catch_up()
            self._check_repositories(tenant, repo, allowed)
            yield

    async def is_next(self, job: Job) -> bool:
        """Whether an import that fetches may start now: the oldest of a tenant start first.

        Raises LIMIT_EXCEEDED if the tenant may not import anything.
        """
        allowed = self._tenants.limit_of(job.tenant, Limit.IMPORTS_AT_ONCE)
        if allowed is None or job.lane is Lane.LIVE:
            return True
        if not allowed:
            raise limit_exceeded(Limit.IMPORTS_AT_ONCE, allowed, "Ask the operator for another plan.")
        others = await self._imports(job)
        mine = (job.created_at, job.job)
        ahead = [one for one in others if _is_running(one) or (one.created_at, one.job) < mine]
        return len(ahead) < allowed

    def _check_repositories(self, tenant: str, repo: str, allowed: int) -> None:
        if self._repositories.get(repository_key(tenant, repo)):
            return
        if sum(one.tenant == tenant for one in self._repositories.values()) >= allowed:
            raise limit_exceeded(
                Limit.REPOSITORIES, allowed, "Delete a repository, or ask the operator for another plan."
            )

    async def _check_imports(self, job: Job, allowed: int) -> None:
        running = [one for one in await self._imports(job) if _is_running(one)]
        if len(running) >= allowed:
            shown = ", ".join(f"{one.job} of {one.repo_name}" for one in running[:allowed])
            raise limit_exceeded(
                Limit.IMPORTS_AT_ONCE,
                allowed,
                f"Wait for the end of job {shown}, or cancel it."
                if shown
                else "Ask the operator for another plan.",
            )

    async def _imports(self, job: Job) -> list[Job]:
        """Returns the imports of a job's tenant that are waiting or make progress, but not that of its own layer."""
        indexed = {
            **{
                (one.repo, BASE_LAYER): one for one in self._repositories.values() if one.tenant == job.tenant
            },
            **{(one.repo, one.layer): one for one in self._layers.values() if one.tenant == job.tenant},
        }
        indexed.pop((job.repo, job.layer), None)
        active = {one.active_job for one in indexed.values() if one.active_job}
        jobs = [await self._jobs.get(one) for one in sorted(active)]
        return [one for one in jobs if one and one.lane is Lane.BULK and self._makes_progress(one)]

    def _makes_progress(self, job: Job) -> bool:
        if is_final(job):
            return False
        return job.state is JobState.CLONING or datetime.now(UTC) - job.updated_at < self._idle


def _is_running(job: Job) -> bool:
    return job.state is JobState.INDEXING
