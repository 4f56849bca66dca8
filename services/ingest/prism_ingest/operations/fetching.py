"""Runs the commands of jobs that fetch: updates the mirror, lists the commit, plans, publishes events.

In: `CloneRequested`. Out: one event per file that the plan needs, or a failed job.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import NamedTuple

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import CloneRequested
from prism_contracts.records import Job, JobState, layer_key, repository_key
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.mirrors import Mirrors, MirrorSource
from prism_ingest.adapters.quotas import Quotas
from prism_ingest.core import files_lane, is_final, is_planned, known_commit
from prism_ingest.core.import_limits import ImportLimits, check_import
from prism_ingest.core.layers import Base, exact_commit
from prism_ingest.core.selection import EVERYTHING, Selection
from prism_ingest.operations.file_events import DAMAGE, snapshot_events
from prism_ingest.operations.import_gate import ImportGate
from prism_ingest.operations.job_tracker import JobTracker
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.planning import FileListing, Opened, Planner
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.operations.pushed_branches import PushedBranches
from prism_ingest.settings import IngestSettings
from prism_runtime import tracing
from prism_runtime.bus import Bus
from prism_source.clone import Mirror
from prism_source.gittree import snapshot_changes, snapshot_git
from prism_source.snapshot import Snapshot

# Commands of one tenant in one lane that are running or waiting in this process.
COMMANDS_OF_TENANT_MAX = 16
PUT_BACK_S = 1.0


class Known(NamedTuple):
    """What is known of a repository before a job fetches it."""

    base: Base  # what a diff of commits may be relative to
    selection: Selection


class Fetched(NamedTuple):
    """A commit in the mirror: all of its files, or the changed files and the removed paths (see FileListing)."""

    mirror: Mirror
    snapshot: Snapshot
    selected: tuple[SnapshotFile, ...]  # the files of the snapshot that the repository imports
    removed: tuple[str, ...] | None
    base: Base | None  # what the changes are relative to
    files: int  # the number of selected files of the commit; -1: unknown
    selection: Selection
    known: Mapping[str, str] | None = None  # see `FileListing`; the blobs are not known, and are empty


class Fetcher:
    """Runs commands, one at a time per mirror."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        mirrors: Mirrors,
        *,
        quotas: Quotas,
        planner: Planner,
        pushed: PushedBranches,
        layers: LayerRegistry,
        tracker: JobTracker,
        cancelled: CancelledJobs,
        gates: Mapping[Lane, ImportGate],
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._mirrors = mirrors
        self._quotas = quotas
        self._planner = planner
        self._pushed = pushed
        self._layers = layers
        self._tracker = tracker
        self._cancelled = cancelled
        self._limits = settings.limits
        self._import_limits = ImportLimits(settings.import_files_max, settings.import_bytes_max)
        self._running: Counter[tuple[str, Lane]] = (
            Counter()
        )  # commands running or waiting, by tenant and lane
        self._gates = gates

    async def run(self, command: CloneRequested) -> None:
        """Fetch and import.

        If the tenant has too many commands or its plan allows no further import at once, this one goes to the
        end of the queue.
        """
        of_tenant = (command.tenant, command.lane)
        if self._running[of_tenant] >= COMMANDS_OF_TENANT_MAX or not await self._is_next(command):
            await self._put_back(command)
            return
        self._running[of_tenant] += 1
        try:
            await self._fetch_and_index(command)
        finally:
            self._running[of_tenant] -= 1

    async def _is_next(self, command: CloneRequested) -> bool:
        job = await self._ledger.jobs.get(command.job)
        if job is None or is_final(job) or is_planned(job):
            return True
        try:
            return await self._quotas.is_next(job)
        except PrismError as error:
            await self._tracker.fail(job.job, error.body)
            return True

    async def _put_back(self, command: CloneRequested) -> None:
        await asyncio.sleep(PUT_BACK_S)
        # A new id: JetStream drops duplicates.
        message_id = f"{command.message_id}:{uuid.uuid4().hex}"
        await self._bus.publish(command, message_id=message_id)

    async def _fetch_and_index(self, command: CloneRequested) -> None:
        job = await self._ledger.jobs.get(command.job)
        if job is None:
            return
        if is_final(job):
            await self._conclude(job)
            return
        self._bus.room.check()  # the command waits
        known = await self._known(job, command)
        try:
            remote = await self._remote(job, command)
        except PrismError as error:
            await self._tracker.fail(job.job, error.body)
            return
        try:
            await self._index(job, command, remote, known)
        except PrismError as error:
            if error.code in DAMAGE:
                await self._mirrors.forget(remote)  # the command is delivered again
            raise

    async def _index(self, job: Job, command: CloneRequested, remote: MirrorSource, known: Known) -> None:
        async with AsyncExitStack() as open_until_done:
            async with AsyncExitStack() as open_until_planned:
                try:
                    mirrored = await open_until_planned.enter_async_context(
                        self._mirrors.fetched(remote, command.lane)
                    )
                    await self._pushed.report(job, mirrored)
                    with tracing.span("list commit"):
                        fetched = await asyncio.to_thread(self._list, mirrored, known)
                    open_until_done.callback(fetched.snapshot.close)
                    check_import(fetched.selected, self._import_limits)
                    if job.layer == BASE_LAYER:
                        _check_selected(fetched)
                except PrismError as error:
                    await self._tracker.fail(job.job, error.body)
                    await self._forget_if_gone(job, error.code)
                    return
                opened = await self._plan(job, Origin(command.url, command.ref), fetched)
                # Publishing takes as long as the import, and other refs may be fetched meanwhile.
                await open_until_done.enter_async_context(self._mirrors.held(remote))
            with tracing.span("publish files"):
                await self._publish(opened, fetched.snapshot)

    async def _remote(self, job: Job, command: CloneRequested) -> MirrorSource:
        """Returns what to fetch: after a restart the same commit again, because the branch may have moved."""
        ref = command.ref
        if job.layer != BASE_LAYER:
            layer = await self._ledger.layers.get(layer_key(job.tenant, job.repo, job.layer))
            if layer is None:
                raise PrismError(ErrorCode.REF_NOT_FOUND, f"The layer of {job.ref} was deleted.")
            ref = layer.source
        return MirrorSource(job.tenant, job.repo, command.url, ref=job.commit or ref)

    async def _conclude(self, job: Job) -> None:
        """Finish what a process left undone that died after the job ended, before it acked the command."""
        await self._tracker.conclude(job)
        indexed = await self._ledger.indexed(job.tenant, job.repo, job.layer)
        if job.error and indexed and indexed.next_version == job.version + 1:  # no later job has begun
            await self._forget_if_gone(job, job.error.code)

    async def _forget_if_gone(self, job: Job, code: ErrorCode) -> None:
        """Delete a layer whose branch the remote no longer has."""
        if job.layer != BASE_LAYER and code is ErrorCode.REF_NOT_FOUND:
            layer = await self._ledger.layers.get(layer_key(job.tenant, job.repo, job.layer))
            if layer is not None:
                await self._layers.forget(layer)

    async def _known(self, job: Job, command: CloneRequested) -> Known:
        """Returns the commit that the base holds exactly, so that the diff against it is enough.

        Its commit is empty if uncertain, or if the job was planned before, when all files may be needed.
        """
        repository = await self._ledger.repositories.get(repository_key(job.tenant, job.repo))
        selection = Selection.of(repository) if repository else EVERYTHING
        if repository is None or repository.served is None or is_planned(job) or not command.incremental:
            return Known(Base(0, ""), selection)
        basis, served = await self._planner.basis(selection), repository.served
        if job.layer == BASE_LAYER:
            return Known(Base(served.version, known_commit(served, job, basis), served.files), selection)
        return Known(Base(served.version, exact_commit(repository, basis)), selection)

    def _list(self, mirrored: Mirror, known: Known) -> Fetched:
        since, selection = known
        changes = (
            snapshot_changes(mirrored.git_dir, since.commit, mirrored.commit, self._limits)
            if since.commit
            else None
        )
        if changes is not None:
            selected, removed = selection.files(changes.snapshot.files), selection.paths(changes.removed)
            added = selection.paths(changes.added)
            blobs = dict.fromkeys({file.path for file in selected} - set(added), "")
            files = since.files + len(added) - len(removed) if since.files >= 0 else -1
            return Fetched(mirrored, changes.snapshot, selected, removed, since, files, selection, blobs)
        whole = snapshot_git(mirrored.git_dir, mirrored.commit, self._limits)
        selected = selection.files(whole.files)
        return Fetched(mirrored, whole, selected, None, None, len(selected), selection)

    async def _plan(self, job: Job, origin: Origin, fetched: Fetched) -> Opened:
        mirrored, selection = fetched.mirror, fetched.selection
        is_base = job.layer == BASE_LAYER
        await self._ledger.record_remote_head(job.tenant, job.repo, job.layer, mirrored.commit, _now())
        named = job.model_copy(
            update={
                "commit": mirrored.commit,
                "ref": (is_base and mirrored.ref) or job.ref,
                "state": JobState.INDEXING,
                "fetched_at": _now(),
            }
        )
        listing = FileListing(
            fetched.selected,
            fetched.removed,
            fetched.known,
            history=selection.history(fetched.snapshot.history) if is_base else None,
            base=fetched.base,
            total=fetched.files,
            selection=selection,
        )
        return await self._planner.open(named, origin, listing)

    async def _publish(self, opened: Opened, snapshot: Snapshot) -> None:
        events = snapshot_events(opened, snapshot, self._limits)
        await publish_file_events(
            self._bus, events, self._cancelled, gate=self._gates[files_lane(opened.job)]
        )


def _check_selected(fetched: Fetched) -> None:
    """Raise SOURCE_EMPTY if the commit has files, and none of them is selected."""
    if fetched.removed is None and not fetched.selected:
        raise PrismError(
            ErrorCode.SOURCE_EMPTY,
            "None of the commit's files is selected by repo_root_prefix, include and exclude.",
            "Change them: PATCH /api/v1/repos/{name}, or `prism repos update NAME`.",
        )


def _now() -> datetime:
    return datetime.now(UTC)
