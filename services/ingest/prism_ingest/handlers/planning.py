"""Begins a job, finds out what it is to do, and publishes what needs no content. All of it may be repeated."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from prism_contracts.code import SkipReason
from prism_contracts.events import FileEvent, FileRemoved
from prism_contracts.records import History, Job, JobState
from prism_contracts.rpc import ManifestEntry, SnapshotFile
from prism_ingest.adapters.index import read_manifest
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.snapshots import JobFiles, SnapshotStore
from prism_ingest.core import (
    Plan,
    basis_of,
    is_final,
    is_planned,
    lane_of,
    make_plan,
    open_ordinals,
    plan_changes,
)
from prism_ingest.core.contents import address, skipped
from prism_ingest.core.histories import keepable
from prism_ingest.handlers.jobs import JobHandlers
from prism_ingest.handlers.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_runtime.histories import HistoryStore


class Listing(NamedTuple):
    """The files that a job is about."""

    files: tuple[SnapshotFile, ...]
    # None: `files` are all that there are, and the rest of the index goes. Else: `files` are those that differ from
    # what the index holds, and these are to go.
    removed: tuple[str, ...] | None = None
    # A client says that the commit's files are these; nobody has compared.
    is_claimed: bool = False
    # What changed lately. None says nothing, and leaves what an older snapshot said.
    history: History | None = None


class Opened(NamedTuple):
    """A job under way and what it is to do."""

    job: Job
    files: JobFiles

    @property
    def wanted(self) -> list[int]:
        """The files whose contents are still to come, by ordinal."""
        return [] if is_final(self.job) else open_ordinals(self.job, self.files.needed)


class Planner:
    """Opens jobs."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        *,
        snapshots: SnapshotStore,
        histories: HistoryStore,
        jobs: JobHandlers,
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._snapshots = snapshots
        self._histories = histories
        self._jobs = jobs
        self._settings = settings

    async def basis(self) -> str:
        """What files are indexed with now."""
        chunker, model = await self._ledger.versions()
        return basis_of(chunker, model, self._settings.file_bytes_max)

    async def open(self, job: Job, origin: Origin, listing: Listing) -> Opened:
        """Plan the job unless that was done, and publish what needs no content."""
        begun = await self._ledger.begin(job, origin, self._settings.job_idle_s)
        await self._keep_history(begun, listing.history)
        if is_final(begun):
            return Opened(begun, JobFiles(files=(), needed=(), skipped=(), removed=()))
        if is_planned(begun):
            planned = Opened(begun, await self._snapshots.get(begun.job))
        else:
            planned = await self._plan(begun.model_copy(update=_described(job)), listing)
        if is_final(planned.job):
            await self._jobs.end(planned.job)
        else:
            await publish_file_events(self._bus, _content_free_events(planned))
        return planned

    async def _keep_history(self, job: Job, history: History | None) -> None:
        """Keep what changed lately, in the place of what an older snapshot said."""
        if history:
            kept = await asyncio.to_thread(keepable, history, job.version)
            await self._histories.put(job.tenant, job.repo, kept)

    async def _plan(self, job: Job, listing: Listing) -> Opened:
        files = listing.files
        plan = await self._compare(job, listing)
        todo = JobFiles(files=files, needed=plan.needed, skipped=plan.skipped, removed=plan.removed)
        counts = job.counts.model_copy(
            update={
                "seen": len(files),
                "unchanged": plan.unchanged,
                "skipped": plan.still_skipped,
                "bytes": sum(files[ordinal].size_bytes for ordinal in plan.needed),
            }
        )
        now = _now()
        planned = job.model_copy(
            update={
                "basis": "" if listing.is_claimed else await self.basis(),
                "counts": counts,
                "expected": plan.expected,
                "lane": lane_of(job.lane, plan),
                "settled": bytes((len(files) + len(plan.removed) + 7) // 8),
                "updated_at": now,
                "planned_at": now,
            }
            | ({} if plan.expected else {"state": JobState.COMPLETE, "finished_at": now})
        )
        return await self._keep_plan(planned, todo)

    async def _compare(self, job: Job, listing: Listing) -> Plan:
        if listing.removed is not None:
            return plan_changes(listing.files, listing.removed)
        chunker, model = await self._ledger.versions()
        index: Sequence[ManifestEntry] = await read_manifest(self._bus, job.tenant, job.repo, job.layer)
        return make_plan(listing.files, index, chunker, model)

    async def _keep_plan(self, planned: Job, todo: JobFiles) -> Opened:
        """Write the plan down, unless the same command, delivered twice, did so meanwhile: its files may have settled."""
        known = await self._ledger.jobs.get(planned.job)
        if known is None or not is_planned(known):
            await self._snapshots.put(planned.job, todo)
            known = await self._ledger.jobs.modify(
                planned.job, lambda found: found if found and is_planned(found) else planned
            )
        is_ours = known == planned or is_final(known)  # of a job that ended no plan is kept
        return Opened(known, todo if is_ours else await self._snapshots.get(known.job))


def _content_free_events(opened: Opened) -> Iterator[FileEvent]:
    job, files = opened
    for ordinal in open_ordinals(job, files.skipped):
        file = files.files[ordinal]
        yield skipped(job, ordinal, file, file.skipped or SkipReason.UNREADABLE)
    first = len(files.files)
    for ordinal in open_ordinals(job, range(first, first + len(files.removed))):
        yield FileRemoved(**address(job, ordinal, files.removed[ordinal - first]))


def _described(job: Job) -> dict[str, object]:
    return {key: getattr(job, key) for key in ("commit", "ref", "dirty", "state", "fetched_at")}


def _now() -> datetime:
    return datetime.now(UTC)
