"""Follows a job for a call that waits for it, with progress notifications if the client asked for them.

The job belongs to ingest: it continues when the call ends, and a call that cannot follow it returns what is known.
"""

import asyncio
import time
from typing import Annotated, NamedTuple

from pydantic import ConfigDict, Field

from prism_contracts.errors import PrismError
from prism_contracts.records import FINAL_STATES, Job, JobState
from prism_contracts.rpc.imports import JOB, JobRequest
from prism_gateway.mcp.answers.indexing import settled_files
from prism_gateway.mcp.arguments import Arguments
from prism_gateway.mcp.schema import Schema
from prism_gateway.mcp.tool import Call

# A look at a job costs ingest a read. A short job ends between two of the first looks.
LOOK_MIN_S = 0.25
LOOK_MAX_S = 2.0
LOOK_SHARE = 0.05
PERCENT_MAX = 100.0
# Each notification must be greater than the one before, also while nothing settles: then it takes this share of
# the rest. https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
STEP_SHARE = 1e-4
RUNNING_PERCENT_MAX = 99.9
MINUTE_S, HOUR_S = 60, 3600
# Clients of the official SDKs wait 60 s for an answer, `prism mcp` 300 s.
WAIT_S_WITH_PROGRESS = 45
WAIT_S_MAX = 240


def _wait_last(schema: Schema) -> None:
    """List the inherited argument after the tool's own."""
    fields = schema["properties"]
    fields["wait_s"] = fields.pop("wait_s")


class FollowingArguments(Arguments):
    """Arguments of a tool that begins a job, and may follow it."""

    model_config = ConfigDict(json_schema_extra=_wait_last)

    wait_s: Annotated[
        int, Field(ge=0, le=WAIT_S_MAX, description="seconds to follow the job; 45 with a progress token")
    ] = 0


class Notification(NamedTuple):
    """What the client shows. `percent` is out of 100."""

    percent: float
    message: str


class JobProgress:
    """Turns looks at a job into notifications. The time left comes from the pace since the first settled file."""

    def __init__(self) -> None:
        self._percent = 0.0
        self._first: tuple[float, int] | None = None

    def look(self, job: Job, now_s: float) -> Notification:
        """Returns the notification of a look at this time, in seconds of any clock."""
        settled = settled_files(job)
        if settled and self._first is None:
            self._first = (now_s, settled)
        if job.state in FINAL_STATES:
            self._percent = PERCENT_MAX
        else:
            share = PERCENT_MAX * settled / job.expected if job.expected else 0.0
            least = self._percent + STEP_SHARE * (PERCENT_MAX - self._percent)
            self._percent = max(min(share, RUNNING_PERCENT_MAX), least)
        return Notification(self._percent, self._message(job, settled, now_s))

    def _message(self, job: Job, settled: int, now_s: float) -> str:
        if job.state is JobState.CLONING:
            return f"fetching {job.repo_name}"
        text = f"{job.state.value.replace('_', ' ')} {job.repo_name}"
        if not job.expected:
            return text
        text += f": {settled:,} of {job.expected:,} files, {PERCENT_MAX * settled / job.expected:.0f} %"
        left_s = self._left_s(job, settled, now_s)
        return text if left_s is None else f"{text}, about {_duration(left_s)} left"

    def _left_s(self, job: Job, settled: int, now_s: float) -> float | None:
        if self._first is None or job.state in FINAL_STATES:
            return None
        first_s, first = self._first
        if settled == first or now_s <= first_s:
            return None
        return (job.expected - settled) * (now_s - first_s) / (settled - first)


async def follow(call: Call, job: Job, arguments: FollowingArguments) -> Job:
    """Returns the job at its end, or as it is after the time that was asked for."""
    is_chosen = "wait_s" in arguments.model_fields_set
    wait_s = WAIT_S_WITH_PROGRESS if call.report and not is_chosen else arguments.wait_s
    if not wait_s or job.state in FINAL_STATES:
        return job
    try:
        async with call.backend.waiting():
            return await _follow(call, job, wait_s)
    except PrismError:
        return job  # too many calls wait


async def _follow(call: Call, job: Job, wait_s: float) -> Job:
    progress, begun_at, services = JobProgress(), time.monotonic(), call.backend.reporting()
    request = JobRequest(tenant=call.caller.tenant, job=job.job)
    while True:
        elapsed_s = time.monotonic() - begun_at
        if call.report:
            percent, message = progress.look(job, elapsed_s)
            await call.report(percent, PERCENT_MAX, message)
        if job.state in FINAL_STATES or elapsed_s >= wait_s:
            return job
        await asyncio.sleep(min(max(LOOK_MIN_S, LOOK_SHARE * elapsed_s), LOOK_MAX_S, wait_s - elapsed_s))
        try:
            job = (await services.ask(JOB, request)).job
        except PrismError:
            return job


def _duration(seconds: float) -> str:
    if seconds < MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < HOUR_S:
        return f"{seconds / MINUTE_S:.0f} min"
    return f"{seconds / HOUR_S:.1f} h"
