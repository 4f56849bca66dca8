"""Finishes what a process left undone when it died.

Whatever a message began is finished by the same message, which is delivered again: its handler takes the same steps. This module is
for what no message finishes, because a request began it and the caller may not repeat it, or because the record that a message
would look at is gone. A step that another process is just taking may be taken here as well: each is harmless when it is repeated.
"""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.records import Job, JobState, Layer, Repository, repository_key
from prism_ingest.adapters.ledger import CLONING_PATIENCE, Ledger
from prism_ingest.core import is_final, is_planned
from prism_ingest.core.layers import REBASE, REBASE_KEPT_MS
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.job_tracker import JobTracker
from prism_ingest.settings import IngestSettings

log = logging.getLogger(__name__)


class Recovery:
    """Looks through all jobs: at every start, and in each round of the sweep."""

    def __init__(
        self, ledger: Ledger, fetch_jobs: FetchJobs, tracker: JobTracker, settings: IngestSettings
    ) -> None:
        self._ledger = ledger
        self._fetch_jobs = fetch_jobs
        self._tracker = tracker
        self._idle = timedelta(seconds=settings.job_idle_s)

    async def start(self) -> None:
        """Publish the commands of jobs that were begun and not fetched, and finish jobs that have ended."""
        repositories, layers, jobs = await self._all()
        for job in _active(jobs, repositories.values(), layers):
            repository = repositories.get(repository_key(job.tenant, job.repo))
            if is_final(job):
                await self._tracker.conclude(job)
            elif job.state is JobState.CLONING and not is_planned(job) and repository is not None:
                await self._fetch_jobs.publish_again(job, repository)

    async def round(self, now: datetime) -> None:
        """Finish jobs that have ended, and give up those that nothing will end."""
        repositories, layers, jobs = await self._all()
        active = {job.job: job for job in _active(jobs, repositories.values(), layers)}
        waiting = {one.active_job for one in (*repositories.values(), *layers) if one.is_pushed}
        for job in jobs.values():
            if is_final(job):
                if job.job in active:
                    await self._tracker.conclude(job)
            elif job.job in active:
                if job.job in waiting and _is_of_client(job) and now - job.updated_at >= self._idle:
                    await self._give_up(job, "Its client disappeared, and a push waits for its end.")
            elif now - job.updated_at >= self._patience(job):
                await self._give_up(job, "Nothing waits for its end any more.")

    async def _all(self) -> tuple[dict[str, Repository], list[Layer], dict[str, Job]]:
        """The jobs first: one that is not named by a record that is read later was not active when it was read."""
        jobs = {job.job: job for job in await self._ledger.jobs.all()}
        repositories = {one.key: one for one in await self._ledger.repositories.all()}
        return repositories, await self._ledger.layers.all(), jobs

    async def _give_up(self, job: Job, why: str) -> None:
        log.warning("giving up job %s of %s: %s", job.job, job.repo_name, why)
        error = ErrorBody(
            code=ErrorCode.JOB_ABANDONED, message=why, next_action="Index the repository again."
        )
        await self._tracker.fail(job.job, error, JobState.ABANDONED)

    def _patience(self, job: Job) -> timedelta:
        """How long a job that is not active may make no progress. Layers wait for a rebase as long as what it brings is kept."""
        return (
            timedelta(milliseconds=REBASE_KEPT_MS) if job.layer == REBASE else self._idle * CLONING_PATIENCE
        )


def _active(jobs: dict[str, Job], repositories: Iterable[Repository], layers: Iterable[Layer]) -> list[Job]:
    """The jobs that a repository or a layer names as its active one."""
    named = [one.active_job for one in (*repositories, *layers)]
    return [jobs[job] for job in named if job in jobs]


def _is_of_client(job: Job) -> bool:
    """Whether the contents of a job come from a client: nobody else can finish it."""
    return job.state is JobState.INDEXING and job.fetched_at is None
