"""Jobs, and the status of the tenant."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from prism_contracts.rpc.imports import (
    CANCEL_JOB,
    JOB,
    JOBS,
    CancelJobRequest,
    JobReply,
    JobRequest,
    JobsRequest,
)
from prism_contracts.types import JobId
from prism_gateway.rest import replies
from prism_gateway.rest.dependencies import Caller, Connection, Services, Settings
from prism_gateway.rest.replies import reply
from prism_gateway.status import status_of

JOBS_MAX = 200
JOBS_DEFAULT = 50

router = APIRouter(tags=["jobs"])


@router.get("/jobs", response_model=replies.Jobs)
async def jobs(
    caller: Caller, backend: Services, limit: Annotated[int, Query(ge=1, le=JOBS_MAX)] = JOBS_DEFAULT
) -> Response:
    """List the newest jobs."""
    known = await backend.ask(JOBS, JobsRequest(tenant=caller.tenant, limit=limit))
    return reply(replies.Jobs(jobs=known.jobs), exclude=replies.JOBS)


@router.get("/jobs/{job}", response_model=JobReply)
async def job(job: JobId, caller: Caller, backend: Services) -> Response:
    """Return one job."""
    return reply(await backend.ask(JOB, JobRequest(tenant=caller.tenant, job=job)), exclude=replies.JOB)


@router.delete("/jobs/{job}", response_model=JobReply)
async def cancel_job(job: JobId, caller: Caller, backend: Services) -> Response:
    """Cancel a job: its queued files are skipped, and the index keeps what it serves.

    A job that has ended is returned unchanged.
    """
    request = CancelJobRequest(tenant=caller.tenant, job=job)
    return reply(await backend.ask(CANCEL_JOB, request), exclude=replies.JOB)


@router.get("/status", response_model=dict[str, Any])
async def status(backend: Services, bus: Connection, settings: Settings) -> Response:
    """Return streams, dead letters, points, repositories and jobs.

    A part that fails is null and listed in `errors`.
    """
    return JSONResponse(await status_of(backend, bus.js, settings.status_timeout_s))
