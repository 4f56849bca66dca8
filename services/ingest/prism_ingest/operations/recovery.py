"""Finishes what a process left undone when it died.

Work that a message began is finished by its redelivery, because the handler takes the same steps again. This
module is for work that no message finishes: a request began it, and the caller may not repeat the request, or
the record that a message needs was deleted. Another process may take the same step at the same time, which is
harmless because each step is idempotent.
"""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.records import Job, JobState, Layer, Repository, repository_key
from prism_ingest.adapters.ledger import CLONING_PATIENCE, Ledger
from prism_ingest.core import is_final, is_planned
from prism_ingest.core.layers import REBASE, REBASE_KEPT_MS
from prism_ingest.operations.cancelling import Cancelling
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.job_tracker import JobTracker
from prism_ingest.operations.renames import Renames
from prism_ingest.settings import IngestSettings

log = logging.getLogger(__name__)


class Recovery:
    """Checks all jobs, at every start and in each round of the sweep."""

    def __init__(
        self,
        ledger: Ledger,
        fetch_jobs: FetchJobs,
        tracker: JobTracker,
        *,
        cancelling: Cancelling,
        renames: Renames,
        settings: IngestSettings,
    ) -> None:
        self._ledger = ledger
        self._cancelling = cancelling
        self._renames = renames
        self._fetch_jobs = fetch_jobs
        self._tracker = tracker
        self._idle = timedelta(seconds=settings.job_idle_s)

    async def start(self) -> None:
        """Publish the commands of jobs that have not fetched, and finish jobs that have ended."""
        await self._cancelling.finish()
        await self._renames.round()
        repositories, layers, jobs = await self._all()
        for job in _active(jobs, repositories.values(), layers):
            repository = repositories.get(repository_key(job.tenant, job.repo))
            if is_final(job):
                await self._tracker.conclude(job)
            elif job.state is JobState.CLONING and not is_planned(job) and repository is not None:
                await self._fetch_jobs.publish_again(job, repository)

    async def round(self, now: datetime) -> None:
        """Finish jobs that have ended, and abandon those that nothing else will end."""
        await self._cancelling.finish()
        await self._renames.round()
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
        """Returns all records. Jobs are read first: one that no later-read record names was not active."""
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
        """Returns how long an inactive job may make no progress.

        Layers wait for a rebase job for as long as its variants are kept.
        """
        return (
            timedelta(milliseconds=REBASE_KEPT_MS) if job.layer == REBASE else self._idle * CLONING_PATIENCE
        )


def _active(jobs: dict[str, Job], repositories: Iterable[Repository], layers: Iterable[Layer]) -> list[Job]:
    """Returns the jobs that a repository or a layer names as active."""
    named = [one.active_job for one in (*repositories, *layers)]
    return [jobs[job] for job in named if job in jobs]


def _is_of_client(job: Job) -> bool:
    """Whether a client sends the contents of a job. Without the client, the job cannot end."""
    return job.state is JobState.INDEXING and job.fetched_at is None
