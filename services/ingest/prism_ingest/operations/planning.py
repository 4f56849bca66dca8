"""Begins a job, plans it, and publishes the events that need no contents. All of it is idempotent."""

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_catalog.histories import HistoryStore
from prism_contracts.base import BASE_LAYER, text_version, variant_layer
from prism_contracts.code import SkipReason
from prism_contracts.events import FileEvent, FileRemoved
from prism_contracts.records import History, Job, JobState, LayerFiles
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.adapters.index import read_manifest
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.plans import JobPlan, PlanStore
from prism_ingest.adapters.variants import Variants
from prism_ingest.core import (
    Plan,
    basis_of,
    is_final,
    is_planned,
    lane_of,
    make_plan,
    open_ordinals,
    plan_changes,
    plan_variants,
)
from prism_ingest.core.contents import address, skipped
from prism_ingest.core.histories import keepable
from prism_ingest.core.jobs import line_of
from prism_ingest.core.layers import (
    Base,
    Difference,
    ListName,
    check_served,
    difference,
    exact_commit,
    layer_version,
)
from prism_ingest.core.selection import EVERYTHING, Selection
from prism_ingest.operations.job_tracker import JobTracker
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime import tracing
from prism_runtime.bus import Bus
from prism_runtime.telemetry import line_fields
from prism_runtime.tracing import Attribute


class FileListing(NamedTuple):
    """The files of a job."""

    files: tuple[SnapshotFile, ...]
    # None: `files` is complete, and other indexed files are removed. Else: `files` are those that differ from
    # the index, and these paths are removed.
    removed: tuple[str, ...] | None = None
    # If `removed` is given, the blobs by path of those of `files` that the index has; None: unknown.
    known: Mapping[str, str] | None = None
    # Whether a client states the files of the commit, and Prism has not compared them.
    is_unverified: bool = False
    # Recent changes. None keeps the stored history.
    history: History | None = None
    # For a layer, if `removed` is given: the base of the diff.
    base: Base | None = None
    # For a layer: whether a client uploads it, so that its file list has to be stored.
    is_sent: bool = False
    # The number of all files, if `removed` is given; -1: unknown.
    total: int = -1
    # For an overlay: the id of the layer below it once these files are served.
    parent: str = BASE_LAYER
    # Which files the repository imports. Only `is_sent` may have others, which are ignored.
    selection: Selection = EVERYTHING


class Opened(NamedTuple):
    """A running job and its plan."""

    job: Job
    plan: JobPlan

    @property
    def needed(self) -> list[int]:
        """The ordinals of the files whose contents are still needed."""
        return [] if is_final(self.job) else open_ordinals(self.job, self.plan.needed)


log = logging.getLogger(__name__)

NOTHING = JobPlan(files=(), needed=(), skipped=(), removed=())


class Planner:
    """Plans jobs."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        *,
        plans: PlanStore,
        variants: Variants,
        histories: HistoryStore,
        tracker: JobTracker,
        cancelled: CancelledJobs,
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._plans = plans
        self._variants = variants
        self._histories = histories
        self._tracker = tracker
        self._cancelled = cancelled
        self._settings = settings

    async def basis(self, selection: Selection = EVERYTHING) -> str:
        """Returns the current basis: the versions, limits and selection that indexing depends on."""
        chunker, model = await self._versions()
        return basis_of(chunker, model, self._settings.file_bytes_max, selection.version)

    async def _versions(self) -> tuple[str, str]:
        chunker, model = await self._ledger.versions()
        return text_version(chunker, self._settings.secrets.version), model

    async def open(
        self, job: Job, origin: Origin, listing: FileListing, *, idle_s: float | None = None
    ) -> Opened:
        """Begin and plan the job unless that was done, and publish the events that need no contents.

        An active job is abandoned if it has been idle for `idle_s` (default: the setting `job_idle_s`).
        """
        with tracing.span("plan import"):
            return await self._open(job, origin, listing, idle_s)

    async def _open(self, job: Job, origin: Origin, listing: FileListing, idle_s: float | None) -> Opened:
        begun = await self._ledger.begin(job, origin, self._settings.job_idle_s if idle_s is None else idle_s)
        if is_final(begun):
            await self._tracker.conclude(begun)
            return Opened(begun, NOTHING)
        await self._keep_history(begun, listing.history)
        if is_planned(begun):
            planned = Opened(begun, await self._plans.get(begun.job))
        else:
            fresh = begun.model_copy(update=_described(job))
            if job.layer != BASE_LAYER:
                fresh = await self._ledger.renew_version(fresh)
            planned = await self._plan(fresh, listing)
            _log_begin(planned.job)
        if is_final(planned.job):
            await self._tracker.end(planned.job)
        else:
            await publish_file_events(self._bus, _content_free_events(planned), self._cancelled)
        return planned

    async def open_variants(
        self, job: Job, files: tuple[SnapshotFile, ...], missing: Collection[int], basis: str
    ) -> Opened:
        """Begin or continue a job that indexes variants for layers, which are switched when it ends."""
        known = await self._ledger.jobs.get(job.job)
        if known is not None and is_final(known):
            return Opened(known, NOTHING)
        plan = plan_variants(files, missing)
        version = layer_version(0, _now())
        planned = _planned(job.model_copy(update={"version": version}), files, plan, basis)
        opened = await self._keep_plan(planned, _todo(files, plan, {}))
        if known is None:  # it is planned once, and continued after a crash
            _log_begin(opened.job)
        await publish_file_events(self._bus, _content_free_events(opened), self._cancelled)
        return opened

    async def _keep_history(self, job: Job, history: History | None) -> None:
        """Replace the stored history, if the listing has one."""
        if history:
            kept = await asyncio.to_thread(keepable, history, job.version, self._settings.secrets)
            await self._histories.put(job.tenant, job.repo, kept)

    async def _plan(self, job: Job, listing: FileListing) -> Opened:
        files, basis = listing.files, await self.basis(listing.selection)
        layer: dict[str, str | int] = {}
        if job.layer == BASE_LAYER:
            plan = await self._compare(job, listing)
        else:
            plan, layer = await self._diff_against_base(job, listing, basis)
        if job.layer == BASE_LAYER:
            job = job.model_copy(update={"files": len(files) if listing.removed is None else listing.total})
        unverified = listing.is_unverified and job.layer == BASE_LAYER
        return await self._keep_plan(
            _planned(job, files, plan, "" if unverified else basis), _todo(files, plan, layer)
        )

    async def _compare(self, job: Job, listing: FileListing) -> Plan:
        if listing.removed is not None:
            return plan_changes(listing.files, listing.removed, listing.known)
        chunker, model = await self._versions()
        index: Sequence[ManifestEntry] = await read_manifest(self._bus, job.tenant, job.repo, job.layer)
        return make_plan(
            listing.files,
            index,
            chunker,
            model,
            withholds=self._settings.secrets.withhold,
            is_forced=job.force,
        )

    async def _diff_against_base(
        self, job: Job, listing: FileListing, basis: str
    ) -> tuple[Plan, dict[str, str | int]]:
        """Returns the plan of a layer, and the new fields of its record.

        The file list is written before the store is asked which variants it has: see `Variants.pin`.
        """
        base, difference = await self._difference(job, listing, basis)
        selects = listing.selection.matcher()
        differing = [number for number in difference.files if selects(listing.files[number].path)]
        files = [listing.files[number] for number in differing]
        wanted = {file.path: variant_layer(file.path, file.blob, basis) for file in files}
        sent = {file.path: file.blob for file in listing.files} if listing.is_sent else {}
        layer = LayerFiles(variants=wanted, hidden=difference.hidden, listing=sent)
        name = ListName(job.tenant, job.repo, job.layer, job.version)
        stored = await self._variants.pin(job.tenant, job.repo, str(name), layer)
        fields: dict[str, str | int] = {
            "parent": listing.parent,
            "files": str(name),
            "files_changed": len(wanted),
            "files_hidden": len(difference.hidden),
            "files_missing": 0,
            "size_bytes": sum(file.size_bytes for file in files),
            "base_version": base.version,
            "base_commit": base.commit,
        }
        missing = [number for number in differing if wanted[listing.files[number].path] not in stored]
        return plan_variants(listing.files, missing), fields

    async def _difference(self, job: Job, listing: FileListing, basis: str) -> tuple[Base, Difference]:
        if listing.removed is not None:
            return listing.base or Base(0, ""), Difference(tuple(range(len(listing.files))), listing.removed)
        repository = await self._ledger.repository(job.tenant, job.repo)
        served = check_served(repository)
        # The commit is certain only if no import runs while the manifest is read. Otherwise the layer is
        # diffed against the base again later.
        commit = exact_commit(repository, basis) if repository.is_quiet else ""
        entries = await read_manifest(self._bus, job.tenant, job.repo, BASE_LAYER)
        return Base(served.version, commit), difference(listing.files, entries)

    async def _keep_plan(self, planned: Job, todo: JobPlan) -> Opened:
        """Store the plan, unless another delivery of the command did so: its files may have settled."""
        known = await self._ledger.jobs.get(planned.job)
        if known is None or not is_planned(known):
            await self._plans.put(planned.job, todo)
            known = await self._ledger.jobs.modify(
                planned.job, lambda found: found if found and is_planned(found) else planned
            )
        is_ours = known == planned or is_final(known)  # the plan of an ended job is dropped
        return Opened(known, todo if is_ours else await self._plans.get(known.job))


def _planned(job: Job, files: Sequence[SnapshotFile], plan: Plan, basis: str) -> Job:
    """Returns the job with the fields that its plan determines."""
    now = _now()
    counts = job.counts.model_copy(
        update={
            "seen": len(files),
            "unchanged": plan.unchanged,
            "skipped": plan.still_skipped,
            "bytes": sum(files[ordinal].size_bytes for ordinal in plan.needed),
        }
    )
    return job.model_copy(
        update={
            "basis": basis,
            "counts": counts,
            "expected": plan.expected,
            "lane": lane_of(job.lane, plan),
            "settled": bytes((len(files) + len(plan.removed) + 7) // 8),
            "updated_at": now,
            "planned_at": now,
        }
        | ({} if plan.expected else {"state": JobState.COMPLETE, "finished_at": now})
    )


def _log_begin(job: Job) -> None:
    tracing.note({Attribute.FILES: job.expected})
    counts = job.counts
    log.info(
        "import began",
        extra=line_fields(
            **line_of(job),
            files=counts.seen,
            unchanged=counts.unchanged,
            to_do=job.expected,
            bytes=counts.bytes,
        ),
    )


def _todo(files: tuple[SnapshotFile, ...], plan: Plan, layer: dict[str, str | int]) -> JobPlan:
    return JobPlan(
        files=files,
        needed=plan.needed,
        skipped=plan.skipped,
        removed=plan.removed,
        added=plan.added,
        changed=plan.changed,
        layer=layer,
    )


def _content_free_events(opened: Opened) -> Iterator[FileEvent]:
    job, plan = opened
    for ordinal in open_ordinals(job, plan.skipped):
        file = plan.files[ordinal]
        yield skipped(job, ordinal, file, file.skipped or SkipReason.UNREADABLE)
    first = len(plan.files)
    for ordinal in open_ordinals(job, range(first, first + len(plan.removed))):
        yield FileRemoved(**address(job, ordinal, plan.removed[ordinal - first]))


def _described(job: Job) -> dict[str, object]:
    return {key: getattr(job, key) for key in ("commit", "ref", "dirty", "state", "fetched_at")}


def _now() -> datetime:
    return datetime.now(UTC)
