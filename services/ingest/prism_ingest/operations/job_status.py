"""Reads jobs, repositories and layers for those who wait for them. Changes nothing."""

import asyncio
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
        jobs = [job for job in await self._candidates(request.job, request.repo) if _is_seen(job, request)]
        if not jobs:
            raise job_not_found(request.job, request.repo)
        return await self._as_seen(max(jobs, key=lambda found: found.created_at))

    async def seen_by(self, request: JobsRequest) -> TenantStatus:
        """Returns the `limit` newest jobs, and all repositories with their layers, that the caller may see."""
        now = datetime.now(UTC)
        jobs, repositories, layers = await asyncio.gather(
            self._ledger.jobs.all(), self._ledger.repositories.all(), self._ledger.layers.all()
        )
        mine = sorted((job for job in jobs if _is_seen(job, request)), key=lambda job: job.created_at)
        own = (repository for repository in repositories if _is_seen(repository, request))
        known = (layer for layer in layers if _is_seen(layer, request) and not layer.is_expired(now))
        return TenantStatus(
            jobs=tuple(mine[: -request.limit - 1 : -1]),
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


def _is_seen(record: Job | Repository | Layer, request: CallerRequest) -> bool:
    return record.tenant == request.tenant and request.sees(record.repo)


def job_not_found(job: str, repo: str = "") -> PrismError:
    """Returns the error for a job that the tenant does not have."""
    return PrismError(
        ErrorCode.JOB_NOT_FOUND,
        f"There is no job {job}." if job else f"{shown(repo)} has no job.",
        "List the jobs with index_status, or start one with `prism index`.",
    )
