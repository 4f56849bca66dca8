"""Begins a job, finds out what it is to do, and publishes what needs no content. All of it may be repeated."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

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
from prism_ingest.core.layers import (
    Base,
    Difference,
    ListName,
    check_served,
    difference,
    exact_commit,
    layer_version,
)
from prism_ingest.operations.job_tracker import JobTracker
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus


class Listing(NamedTuple):
    """The files that a job is about."""

    files: tuple[SnapshotFile, ...]
    # None: `files` are all that there are, and the rest of the index goes. Else: `files` are those that differ from
    # what the index holds, and these are to go.
    removed: tuple[str, ...] | None = None
    # A client says that the commit's files are these; nobody has compared.
    is_unverified: bool = False
    # What changed lately. None says nothing, and leaves what an older snapshot said.
    history: History | None = None
    # Of a layer, if `removed` is given: what it differs from.
    base: Base | None = None
    # Of a layer: whether only the client knows the files, so that what they are has to be remembered.
    is_sent: bool = False
    # How many files there are, if `removed` is given; -1: not known.
    total: int = -1
    # Of an overlay: the id of the layer that it lies on when these files are served.
    parent: str = BASE_LAYER


class Opened(NamedTuple):
    """A job under way and what it is to do."""

    job: Job
    plan: JobPlan

    @property
    def needed(self) -> list[int]:
        """The files whose contents are still to come, by ordinal."""
        return [] if is_final(self.job) else open_ordinals(self.job, self.plan.needed)


NOTHING = JobPlan(files=(), needed=(), skipped=(), removed=())


class Planner:
    """Opens jobs."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        *,
        plans: PlanStore,
        variants: Variants,
        histories: HistoryStore,
        tracker: JobTracker,
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._plans = plans
        self._variants = variants
        self._histories = histories
        self._tracker = tracker
        self._settings = settings

    async def basis(self) -> str:
        """What files are indexed with now."""
        chunker, model = await self._versions()
        return basis_of(chunker, model, self._settings.file_bytes_max)

    async def _versions(self) -> tuple[str, str]:
        chunker, model = await self._ledger.versions()
        return text_version(chunker, self._settings.secrets.version), model

    async def open(
        self, job: Job, origin: Origin, listing: Listing, *, idle_s: float | None = None
    ) -> Opened:
        """Plan the job unless that was done, and publish what needs no content.

        An active job gives way if it has been idle for `idle_s`, by default for as long as the settings say.
        """
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
        if is_final(planned.job):
            await self._tracker.end(planned.job)
        else:
            await publish_file_events(self._bus, _content_free_events(planned))
        return planned

    async def open_variants(
        self, job: Job, files: tuple[SnapshotFile, ...], lacking: Collection[int]
    ) -> Opened:
        """Begin a job that brings variants for layers that are switched when it has ended, or go on with it."""
        known = await self._ledger.jobs.get(job.job)
        if known is not None and is_final(known):
            return Opened(known, NOTHING)
        plan = plan_variants(files, lacking)
        version = layer_version(0, _now())
        planned = _planned(job.model_copy(update={"version": version}), files, plan, await self.basis())
        opened = await self._keep_plan(planned, _todo(files, plan, {}))
        await publish_file_events(self._bus, _content_free_events(opened))
        return opened

    async def _keep_history(self, job: Job, history: History | None) -> None:
        """Keep what changed lately, in the place of what an older snapshot said."""
        if history:
            kept = await asyncio.to_thread(keepable, history, job.version, self._settings.secrets)
            await self._histories.put(job.tenant, job.repo, kept)

    async def _plan(self, job: Job, listing: Listing) -> Opened:
        files, basis = listing.files, await self.basis()
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

    async def _compare(self, job: Job, listing: Listing) -> Plan:
        if listing.removed is not None:
            return plan_changes(listing.files, listing.removed)
        chunker, model = await self._versions()
        index: Sequence[ManifestEntry] = await read_manifest(self._bus, job.tenant, job.repo, job.layer)
        return make_plan(listing.files, index, chunker, model, withholds=self._settings.secrets.withhold)

    async def _diff_against_base(
        self, job: Job, listing: Listing, basis: str
    ) -> tuple[Plan, dict[str, str | int]]:
        """What a layer has otherwise than its base, and what its record is to say of that.

        The list of its files is put before the store is asked which of them it has: see `Variants.pin`.
        """
        base, apart = await self._difference(job, listing, basis)
        files = [listing.files[number] for number in apart.files]
        wanted = {file.path: variant_layer(file.path, file.blob, basis) for file in files}
        sent = {file.path: file.blob for file in listing.files} if listing.is_sent else {}
        layer = LayerFiles(variants=wanted, hidden=apart.hidden, listing=sent)
        name = ListName(job.tenant, job.repo, job.layer, job.version)
        stored = await self._variants.pin(job.tenant, job.repo, str(name), layer)
        fields: dict[str, str | int] = {
            "parent": listing.parent,
            "files": str(name),
            "files_changed": len(wanted),
            "files_hidden": len(apart.hidden),
            "files_missing": 0,
            "size_bytes": sum(file.size_bytes for file in files),
            "base_version": base.version,
            "base_commit": base.commit,
        }
        lacking = [number for number in apart.files if wanted[listing.files[number].path] not in stored]
        return plan_variants(listing.files, lacking), fields

    async def _difference(self, job: Job, listing: Listing, basis: str) -> tuple[Base, Difference]:
        if listing.removed is not None:
            return listing.base or Base(0, ""), Difference(tuple(range(len(listing.files))), listing.removed)
        repository = await self._ledger.repository(job.tenant, job.repo)
        served = check_served(repository)
        # The commit is only sure if nothing is written while the manifest is read; else the layer is told apart again.
        commit = exact_commit(repository, basis) if repository.is_quiet else ""
        entries = await read_manifest(self._bus, job.tenant, job.repo, BASE_LAYER)
        return Base(served.version, commit), difference(listing.files, entries)

    async def _keep_plan(self, planned: Job, todo: JobPlan) -> Opened:
        """Write the plan down, unless the same command, delivered twice, did so meanwhile: its files may have settled."""
        known = await self._ledger.jobs.get(planned.job)
        if known is None or not is_planned(known):
            await self._plans.put(planned.job, todo)
            known = await self._ledger.jobs.modify(
                planned.job, lambda found: found if found and is_planned(found) else planned
            )
        is_ours = known == planned or is_final(known)  # of a job that ended no plan is kept
        return Opened(known, todo if is_ours else await self._plans.get(known.job))


def _planned(job: Job, files: Sequence[SnapshotFile], plan: Plan, basis: str) -> Job:
    """The job with all that is known of it when its plan is made."""
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


def _todo(files: tuple[SnapshotFile, ...], plan: Plan, layer: dict[str, str | int]) -> JobPlan:
    return JobPlan(files=files, needed=plan.needed, skipped=plan.skipped, removed=plan.removed, layer=layer)


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
