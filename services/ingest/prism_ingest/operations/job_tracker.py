"""Counts settled files, ends jobs, and turns dead letters into failed files.

In: `FilesSettled`, failures. Out: the served state in the records, and `RepoIndexed`.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

from prism_catalog.layer_files import LayerFilesStore
from prism_contracts import topics
from prism_contracts.base import BASE_LAYER, variant_layer
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.events import (
    FileEvent,
    FileFailed,
    FilesSettled,
    Outcome,
    PushReceived,
    RepoIndexed,
    SettledFile,
)
from prism_contracts.records import Indexed, Job, JobState, Layer, LayerFiles
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.metrics import PushMetrics
from prism_ingest.adapters.plans import PlanStore
from prism_ingest.core import apply_settled, fail_job, is_final
from prism_ingest.core.jobs import line_of
from prism_ingest.core.layers import REBASE, ListName, layer_version
from prism_ingest.operations.index_changes import IndexChanges
from prism_ingest.operations.publishing import publish_file_events
from prism_runtime import tracing
from prism_runtime.batcher import Batcher
from prism_runtime.bus import Bus, DeadLetter
from prism_runtime.telemetry import line_fields

SETTLED_PER_BATCH = 16
GIVEN_UP = frozenset({JobState.FAILED, JobState.ABANDONED, JobState.CANCELLED})
ENDED_WELL = frozenset({JobState.COMPLETE, JobState.COMPLETE_WITH_ERRORS})


log = logging.getLogger(__name__)


class JobTracker:
    """The life of a job after its file events are published."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        plans: PlanStore,
        lists: LayerFilesStore,
        *,
        changes: IndexChanges,
        metrics: PushMetrics,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._plans = plans
        self._changes = changes
        self._lists = lists
        self._metrics = metrics
        self._settled: Batcher[FilesSettled, None] = Batcher(
            self._count, items_max=SETTLED_PER_BATCH, name="count settled files"
        )

    async def settle(self, event: FilesSettled) -> None:
        """Count files of a job that have settled. Returns when they are recorded."""
        await self._settled.submit(event)

    async def fail(self, job_id: str, error: ErrorBody, state: JobState = JobState.FAILED) -> None:
        """End a job for a reason."""
        before = await self._ledger.jobs.get(job_id)
        if before is None:
            return
        job = await self._ledger.jobs.modify(
            job_id, lambda found: fail_job(_known(found), error, _now(), state)
        )
        if not is_final(before) and is_final(job):
            _log_end(job)
        await self._republish_push(job, await self._ledger.release(job))

    async def fail_of_tenant(self, tenant: str, job_id: str, error: ErrorBody) -> None:
        """End a job for a reason, if it is the tenant's."""
        job = await self._ledger.jobs.get(job_id)
        if job is not None and job.tenant == tenant:
            await self.fail(job_id, error)

    async def fail_file(self, event: FileEvent, letter: DeadLetter) -> None:
        """Have the indexer record that a stage gave a file up, or settle it if that failed as well."""
        reason = {"code": letter.code, "detail": letter.reason}
        if letter.subject.endswith(topics.FILE_FAILED.fact):
            file = SettledFile(path=event.path, ordinal=event.ordinal, outcome=Outcome.FAILED, **reason)
            settled = FilesSettled(tenant=event.tenant, job=event.job, files=(file,))
            await self._bus.publish(settled, lane=event.lane)
        else:
            failed = FileFailed(**event.address, stage=letter.consumer.split("-")[0], **reason)
            await publish_file_events(self._bus, [failed])

    async def conclude(self, job: Job) -> None:
        """Finish the end of a final job, because a process may have died in the middle of it. Idempotent."""
        if job.state in ENDED_WELL:
            await self.end(job)
        else:
            await self._republish_push(job, await self._ledger.release(job))

    async def end(self, job: Job) -> None:
        """Serve the result of a final job and publish `RepoIndexed`. Idempotent.

        For a layer, the write of its record makes all files visible at once.
        """
        if job.state not in ENDED_WELL:
            return
        with tracing.resumed("end import", job.trace):
            await self._end(job)

    async def _end(self, job: Job) -> None:
        indexed = await self._serve(job)
        fact = RepoIndexed(
            tenant=job.tenant,
            repo=job.repo,
            layer=job.layer,
            version=job.version,
            job=job.job,
            commit=job.commit,
            complete=job.state is JobState.COMPLETE,
            lane=job.lane,
        )
        # Whoever receives the event finds what the import changed.
        await self._changes.keep(job)
        await self._bus.publish(fact, lane=job.lane)
        await self._plans.drop(job.job)
        await self._republish_push(job, indexed)

    async def _serve(self, job: Job) -> Indexed | None:
        """Serve the result of the job. Returns None if its layer was deleted. Idempotent."""
        is_active = await self._ledger.is_active(job)
        if is_active:
            self._metrics.observe(job)
            _log_end(job)
        if job.layer == BASE_LAYER:
            return await self._ledger.finish(job, {})
        if not is_active:  # it has ended before, and its plan was dropped
            return await self._ledger.indexed(job.tenant, job.repo, job.layer)
        plan = await self._plans.get(job.job)
        return await self._ledger.finish(job, plan.layer)

    async def _republish_push(self, job: Job, indexed: Indexed | None) -> None:
        """Publish again what was pushed while the job ran, now that the next job may begin."""
        if indexed is None or not indexed.is_pushed:
            return
        event = PushReceived(
            tenant=job.tenant,
            repo=job.repo,
            branch=indexed.ref if isinstance(indexed, Layer) else "",
            delivery=f"after:{job.job}",
            received_at=indexed.head_seen_at or _now(),
        )
        # Publish first: a crash before the second write repeats a fetch, and never loses one.
        await self._bus.publish(event)
        await self._ledger.forget_push(job)

    async def _count(self, events: Sequence[FilesSettled]) -> list[Exception | None]:
        by_job: dict[tuple[str, str], list[SettledFile]] = defaultdict(list)
        for event in events:
            by_job[event.tenant, event.job] += event.files
        for (tenant, job_id), settled in by_job.items():
            job = await self._ledger.jobs.get(job_id)
            if job is None or job.tenant != tenant:
                continue  # its record has expired, or it is another tenant's
            await self._count_job(job_id, settled)
        return [None] * len(events)

    async def _count_job(self, job_id: str, settled: Sequence[SettledFile]) -> None:
        known = _known(await self._ledger.jobs.get(job_id))
        ended = apply_settled(known, settled, _now())
        if is_final(ended) and not is_final(known):
            # Before the job's record is final, so that a client that waits for it finds the result.
            await self._serve(ended)
        job = await self._ledger.jobs.modify(
            job_id, lambda found: apply_settled(_known(found), settled, _now())
        )
        if is_final(job):
            if job.layer == REBASE and not is_final(known):
                _log_end(job)  # it is the active job of no record
            await self.end(job)
        if job.state in GIVEN_UP and job.layer != BASE_LAYER:
            await self._list_late(job, settled)

    async def _list_late(self, job: Job, settled: Sequence[SettledFile]) -> None:
        """Write a list of variants that were indexed after their job was given up and its list was swept.

        The sweep drops variants that only unused lists name, so without a list they would remain forever.
        """
        try:
            plan = await self._plans.get(job.job)
        except PrismError:
            return  # it was given up before it was planned, or a week ago
        own = str(plan.layer.get("files", ""))
        if own and await self._lists.get(own) is not None:
            return
        files = [plan.files[file.ordinal] for file in settled if file.ordinal < len(plan.files)]
        late = LayerFiles(
            variants={file.path: variant_layer(file.path, file.blob, job.basis) for file in files}
        )
        name = ListName(job.tenant, job.repo, job.layer, layer_version(0, _now()))
        await self._lists.put(str(name), late)


def _log_end(job: Job) -> None:
    counts = job.counts
    log.info(
        "import ended",
        extra=line_fields(
            **line_of(job),
            state=job.state.value,
            **({"code": job.error.code.value} if job.error else {}),
            indexed=counts.indexed,
            removed=counts.removed,
            skipped=counts.skipped,
            failed=counts.failed,
            chunks=counts.chunks,
            bytes=counts.bytes,
            seconds=round((_now() - job.created_at).total_seconds(), 2),
        ),
    )


def _known(job: Job | None) -> Job:
    if job is None:
        raise PrismError(ErrorCode.JOB_NOT_FOUND, "The job no longer exists.")
    return job


def _now() -> datetime:
    return datetime.now(UTC)
