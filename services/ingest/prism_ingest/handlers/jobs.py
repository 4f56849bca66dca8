"""Settled files, dead letters, and questions about jobs."""

import logging

from pydantic import ValidationError

from prism_contracts import topics
from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.events import FileEvent, FilesSettled, JobLetter
from prism_contracts.rpc.imports import CancelJobRequest, JobReply, JobRequest, JobsReply, JobsRequest
from prism_ingest.adapters.metrics import DeadLetterMetrics
from prism_ingest.core import without_bits
from prism_ingest.operations.cancelling import Cancelling
from prism_ingest.operations.job_status import JobStatus
from prism_ingest.operations.job_tracker import JobTracker
from prism_runtime.bus import DeadLetter

log = logging.getLogger(__name__)


class JobHandlers:
    """Answers `job`, `jobs` and `cancel_job`, and receives what happens to the files of jobs."""

    def __init__(
        self, tracker: JobTracker, status: JobStatus, cancelling: Cancelling, metrics: DeadLetterMetrics
    ) -> None:
        self._tracker = tracker
        self._status = status
        self._cancelling = cancelling
        self._metrics = metrics

    async def on_settled(self, event: FilesSettled) -> None:
        """Files of a job have settled."""
        await self._tracker.settle(event)

    async def on_dead_letter(self, letter: DeadLetter) -> None:
        """A stage gave a message up: fail its file, or its job."""
        self._metrics.count(letter.consumer, letter.code)
        log.error("dead letter from %s: %s %s", letter.consumer, letter.code, letter.reason)
        event = _read_letter(letter)
        if isinstance(event, JobLetter):
            error = ErrorBody(
                code=ErrorCode(letter.code), message=letter.reason, next_action="Index the repository again."
            )
            await self._tracker.fail_of_tenant(event.tenant, event.job, error)
        elif isinstance(event, FileEvent):
            await self._tracker.fail_file(event, letter)

    async def job(self, request: JobRequest) -> JobReply:
        """Return one job, or the newest of a repository. Raises JOB_NOT_FOUND."""
        return JobReply(job=without_bits(await self._status.find(request)))

    async def cancel(self, request: CancelJobRequest) -> JobReply:
        """Cancel a job. A job that has ended does not change. Raises JOB_NOT_FOUND."""
        seen = JobRequest(tenant=request.tenant, visible=request.visible, job=request.job)
        await self._status.find(seen)
        job = await self._cancelling.cancel(request.tenant, request.job, "It was cancelled.")
        return JobReply(job=without_bits(job))

    async def jobs(self, request: JobsRequest) -> JobsReply:
        """Return the newest jobs, and all repositories with their layers."""
        found = await self._status.seen_by(request)
        return JobsReply(
            jobs=tuple(map(without_bits, found.jobs)), repositories=found.repositories, layers=found.layers
        )


def _read_letter(letter: DeadLetter) -> FileEvent | JobLetter | None:
    fact = letter.subject.split(".", 2)[-1]
    is_job = fact in {topics.FILES_UPLOADED.fact, topics.CLONE_REQUESTED.fact}
    try:
        return (JobLetter if is_job else FileEvent).model_validate_json(letter.body)
    except ValidationError:
        return None  # another service's message: it remains in the dead letters for the operator
