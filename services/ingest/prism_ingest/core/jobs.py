"""Job records. One bit per file marks what has settled, so a file that is reported twice counts once.

When a job ends, `seen + removals = unchanged + indexed + skipped + failed + removed`.
"""

import hashlib
import hmac
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum

from prism_contracts.base import Lane
from prism_contracts.errors import ErrorBody
from prism_contracts.events import Outcome, SettledFile
from prism_contracts.records import (
    FINAL_STATES,
    OVERLAY_HANDLE,
    FileProblem,
    Job,
    JobCounts,
    JobState,
    SlowFile,
)
from prism_ingest.core.layers import REBASE
from prism_runtime import tracing

PROBLEMS_MAX = 100
# The files of a smaller job travel on the live lane.
SMALL_FILES_MAX = 100
SLOWEST_MAX = 5
# An average file takes a few milliseconds.
SLOW_MS = 50.0


class ChangeSource(StrEnum):
    """How a change reached Prism."""

    PUSH = "push"
    EDIT = "edit"
    OVERLAY = "overlay"
    UPLOAD = "upload"
    CLONE = "clone"  # an import that someone asked for


def new_job(
    *,
    key: bytes,
    tenant: str,
    repo: str,
    repo_name: str,
    layer: str,
    lane: Lane,
    snapshot: str,
    state: JobState,
    now: datetime,
) -> Job:
    """Returns a new job. The same snapshot of the same repository gives the same job id.

    `key` is the installation's secret: without it, the id cannot be computed from what is public about a
    repository.
    """
    return Job(
        job=_job_id(key, f"{tenant}\0{repo}\0{layer}\0{snapshot}"),
        tenant=tenant,
        repo=repo,
        repo_name=repo_name,
        layer=layer,
        lane=lane,
        state=state,
        created_at=now,
        updated_at=now,
        trace=tracing.traceparent(),
    )


def _job_id(key: bytes, text: str) -> str:
    digest = hmac.digest(key, text.encode(), hashlib.sha256)
    return str(uuid.UUID(bytes=digest[:16], version=4))


def line_of(job: Job) -> dict[str, str]:
    """Returns the fields that identify a job in a line of the log."""
    return {
        "tenant": job.tenant,
        "repo": job.repo_name,
        "layer": job.layer,
        "job": job.job,
        "lane": job.lane.value,
        "commit": job.commit,
    }


def is_final(job: Job) -> bool:
    """Whether the job has ended."""
    return job.state in FINAL_STATES


def is_planned(job: Job) -> bool:
    """Whether the job has a plan, or has ended."""
    return bool(job.settled or job.expected) or is_final(job)


def files_lane(job: Job) -> Lane:
    """Returns the lane of a planned job's files: those of a small import do not wait behind large ones."""
    return Lane.LIVE if job.expected <= SMALL_FILES_MAX else job.lane


def without_bits(job: Job) -> Job:
    """Returns the job without its bitmap, for replies."""
    return job.model_copy(update={"settled": b""})


def apply_settled(job: Job, files: Sequence[SettledFile], now: datetime) -> Job:
    """Returns the job after these files settled; the same job if all were counted before."""
    bits, counts, problems = bytearray(job.settled), job.counts.model_dump(), list(job.problems)
    slowest = list(job.slowest)
    fresh = 0
    for file in files:
        if not _set_bit(bits, file.ordinal):
            continue
        fresh += 1
        counts[_counter(job, file)] += 1
        counts["chunks"] += file.chunks
        if file.chunk_ms >= SLOW_MS:
            slowest.append(SlowFile(path=file.path, milliseconds=file.chunk_ms))
        if file.outcome is Outcome.FAILED and len(problems) < PROBLEMS_MAX:
            problems.append(FileProblem(path=file.path, code=file.code, detail=file.detail))
    if not fresh:
        return job
    changed = job.model_copy(
        update={
            "settled": bytes(bits),
            "counts": JobCounts(**counts),
            "problems": tuple(problems),
            "slowest": tuple(sorted(slowest, key=lambda slow: (-slow.milliseconds, slow.path))[:SLOWEST_MAX]),
            "updated_at": now,
        }
    )
    return _finish_if_done(changed, now)


def fail_job(job: Job, error: ErrorBody, now: datetime, state: JobState = JobState.FAILED) -> Job:
    """Returns the job as failed or abandoned for a reason. A final job does not change."""
    if is_final(job):
        return job
    return job.model_copy(update={"state": state, "error": error, "updated_at": now, "finished_at": now})


def open_ordinals(job: Job, ordinals: Sequence[int]) -> list[int]:
    """Returns the ordinals that have not settled."""
    return [ordinal for ordinal in ordinals if not job.settled[ordinal // 8] >> ordinal % 8 & 1]


def push_seconds(job: Job) -> Iterator[tuple[str, float]]:
    """How long each step took from a push to the end of its job, and all of it: (`total`, seconds)."""
    moments = (
        ("wait", job.pushed_at, job.created_at),
        ("fetch", job.created_at, job.fetched_at),
        ("plan", job.fetched_at, job.planned_at),
        ("index", job.planned_at, job.finished_at),
        ("total", job.pushed_at, job.finished_at),
    )
    for step, start, end in moments:
        if start is not None and end is not None:
            yield step, (end - start).total_seconds()


def source_of(job: Job) -> ChangeSource | None:
    """Returns how the change of a job reached Prism; None for a rebase, which makes nothing searchable."""
    if job.layer == REBASE:
        return None
    if job.ref.startswith(OVERLAY_HANDLE):
        return ChangeSource.OVERLAY
    if job.pushed_at:
        return ChangeSource.PUSH if job.fetched_at else ChangeSource.EDIT
    return ChangeSource.CLONE if job.fetched_at else ChangeSource.UPLOAD


def settled_count(job: Job) -> int:
    """Returns how many files have settled."""
    return int.from_bytes(job.settled, "big").bit_count()


def _finish_if_done(job: Job, now: datetime) -> Job:
    if is_final(job) or settled_count(job) < job.expected:
        return job
    state = JobState.COMPLETE_WITH_ERRORS if job.counts.failed else JobState.COMPLETE
    return job.model_copy(update={"state": state, "finished_at": now})


def _set_bit(bits: bytearray, ordinal: int) -> bool:
    """Set a bit. Returns False if it was set, or if the job has no such file."""
    position, mask = ordinal // 8, 1 << ordinal % 8
    if position >= len(bits) or bits[position] & mask:
        return False
    bits[position] |= mask
    return True


def _counter(job: Job, file: SettledFile) -> str:
    if file.outcome is not Outcome.SUPERSEDED:
        return file.outcome.value
    # The index has a newer version of the file than this job's. Ordinals of removals follow those of files.
    return Outcome.INDEXED.value if file.ordinal < job.counts.seen else Outcome.REMOVED.value
