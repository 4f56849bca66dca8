"""Reads jobs, repositories and layers for those who wait for them. Changes nothing."""

import asyncio
from datetime import UTC, datetime
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import Job, JobState, Layer, Repository
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core import is_final


class TenantStatus(NamedTuple):
    """A tenant's newest jobs, repositories and layers."""

    jobs: tuple[Job, ...]
    repositories: tuple[Repository, ...]
    layers: tuple[Layer, ...]


class JobStatus:
    """The state of jobs as clients see it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def find(self, tenant: str, job: str, repo: str) -> Job:
        """Returns a job of the tenant by id, or else the newest of a repository. Raises JOB_NOT_FOUND."""
        jobs = [found for found in await self._candidates(job, repo) if found.tenant == tenant]
        if not jobs:
            raise job_not_found(job, repo)
        return await self._as_seen(max(jobs, key=lambda found: found.created_at))

    async def of_tenant(self, tenant: str, limit: int) -> TenantStatus:
        """Returns the `limit` newest jobs, and all repositories of the tenant with their layers."""
        now = datetime.now(UTC)
        jobs, repositories, layers = await asyncio.gather(
            self._ledger.jobs.all(), self._ledger.repositories.all(), self._ledger.layers.all()
        )
        mine = sorted((job for job in jobs if job.tenant == tenant), key=lambda job: job.created_at)
        own = (repository for repository in repositories if repository.tenant == tenant)
        known = (layer for layer in layers if layer.tenant == tenant and not layer.is_expired(now))
        return TenantStatus(
            jobs=tuple(mine[: -limit - 1 : -1]),
            repositories=tuple(sorted(own, key=lambda repository: repository.name)),
            layers=tuple(sorted(known, key=lambda layer: layer.ref)),
        )

    async def _candidates(self, job: str, repo: str) -> list[Job]:
        if job:
            found = await self._ledger.jobs.get(job)
            return [found] if found else []
        jobs = await self._ledger.jobs.all()
        return [found for found in jobs if repo.lower() in {found.repo_name.lower(), found.repo}]

    async def _as_seen(self, job: Job) -> Job:
        """Returns a job as running until its result is served, a moment after its last file has settled."""
        if not is_final(job) or not await self._ledger.is_active(job):
            return job
        return job.model_copy(update={"state": JobState.INDEXING, "finished_at": None})


def job_not_found(job: str, repo: str = "") -> PrismError:
    """Returns the error for a job that the tenant does not have."""
    return PrismError(
        ErrorCode.JOB_NOT_FOUND,
        f"There is no job {job}." if job else f"{shown(repo)} has no job.",
        "List the jobs with index_status, or start one with `prism index`.",
    )
