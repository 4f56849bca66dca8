"""Cancels jobs: every service skips their queued files, and the index keeps what it serves."""

import logging
from datetime import UTC, datetime

from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.records import CancelledJob, Job, JobState
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core import is_final
from prism_ingest.operations.job_status import job_not_found
from prism_ingest.operations.job_tracker import JobTracker
from prism_runtime.records import Records

log = logging.getLogger(__name__)


class Cancelling:
    """Ends running jobs on request."""

    def __init__(self, ledger: Ledger, records: Records[CancelledJob], tracker: JobTracker) -> None:
        self._ledger = ledger
        self._records = records
        self._tracker = tracker

    async def cancel(self, tenant: str, job_id: str, why: str) -> Job:
        """Cancel a job of a tenant, and return it. A job that has ended does not change.

        Raises JOB_NOT_FOUND.
        """
        job = await self._ledger.jobs.get(job_id)
        if job is None or job.tenant != tenant:
            raise job_not_found(job_id)
        if is_final(job):
            return job
        await self.cancel_for_good(job, why)
        return await self._ledger.jobs.get(job_id) or job

    async def cancel_for_good(self, job: Job, why: str) -> bool:
        """Cancel a job. If it has ended, only its queued files are skipped. Returns whether it was running."""
        # First, so that its files are skipped from the moment at which it is final.
        record = CancelledJob(tenant=job.tenant, job=job.job, at=datetime.now(UTC))
        await self._records.put(job.job, record)
        if is_final(job):
            return False
        await self._end(job, why)
        return True

    async def finish(self) -> None:
        """End the jobs that a process began to cancel before it died."""
        for record in await self._records.all():
            job = await self._ledger.jobs.get(record.job)
            if job is not None and not is_final(job):
                await self._end(job, "It was cancelled.")

    async def _end(self, job: Job, why: str) -> None:
        log.info("cancelling job %s of %s: %s", job.job, job.repo_name, why)
        error = ErrorBody(
            code=ErrorCode.JOB_CANCELLED,
            message=why,
            next_action="Index the repository again to update what it serves.",
        )
        await self._tracker.fail(job.job, error, JobState.CANCELLED)
