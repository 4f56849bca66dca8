"""Reads jobs, repositories and layers for those who wait for them. Changes nothing."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import Job, JobState, Layer, Repository
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.imports import JobRequest, JobsRequest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core import is_final


class TenantStatus(NamedTuple):
    """The newest jobs, the repositories and the layers that a caller may see."""

    jobs: tuple[Job, ...]
    repositories: tuple[Repository, ...]
    layers: tuple[Layer, ...]


class JobStatus:
    """The state of jobs as clients see it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def find(self, request: JobRequest) -> Job:
        """Returns a job that the caller may see, by id, or else the newest of a repository.

        Raises JOB_NOT_FOUND.
        """
        job = await self._by_id(request) if request.job else await self._newest(request)
        if job is None:
            raise job_not_found(request.job, request.repo)
        return await self._as_seen(job)

    async def seen_by(self, request: JobsRequest) -> TenantStatus:
        """Returns the `limit` newest jobs, and all repositories with their layers, that the caller may see."""
        now = datetime.now(UTC)
        repositories, layers = await asyncio.gather(
            self._ledger.repositories.all(), self._ledger.layers.all()
        )
        own = [one for one in repositories if one.tenant == request.tenant and request.sees(one.name)]
        ids = {repository.repo for repository in own}
        known = (one for one in layers if one.tenant == request.tenant and one.repo in ids)
        jobs = await self._jobs(request, repositories)
        return TenantStatus(
            jobs=tuple(jobs[: -request.limit - 1 : -1]),
            repositories=tuple(sorted(own, key=lambda repository: repository.name)),
            layers=tuple(
                sorted((one for one in known if not one.is_expired(now)), key=lambda layer: layer.ref)
            ),
        )

    async def _by_id(self, request: JobRequest) -> Job | None:
        return await self._ledger.job_seen_by(request, request.job)

    async def _newest(self, request: JobRequest) -> Job | None:
        repositories = await self._ledger.repositories.all()
        jobs, wanted = await self._jobs(request, repositories), request.repo.lower()
        named = {
            one.repo for one in repositories if one.tenant == request.tenant and one.name.lower() == wanted
        }
        return next((job for job in reversed(jobs) if job.repo in {wanted, *named}), None)

    async def _jobs(self, request: CallerRequest, repositories: Iterable[Repository]) -> list[Job]:
        """Returns the jobs that the caller may see, the oldest first, without those of removed repositories."""
        # A job keeps the name that its repository had.
        names = {(one.tenant, one.repo): one.name for one in repositories}
        removed = {(gone.tenant, gone.repo) for gone in await self._ledger.names.leftovers()}
        jobs = [
            job
            for job in await self._ledger.jobs.all()
            if job.tenant == request.tenant
            and (job.tenant, job.repo) not in removed
            and request.sees(names.get((job.tenant, job.repo), job.repo_name))
        ]
        return sorted(jobs, key=lambda job: job.created_at)

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
