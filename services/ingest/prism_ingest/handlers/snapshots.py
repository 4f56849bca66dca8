"""A snapshot arrives: by upload (its file list first, then the contents that are wanted) or by clone."""

import asyncio
import logging
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from prism_contracts import names
from prism_contracts.base import BASE_LAYER
from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import CloneRequested, FileEvent, FileRemoved, FilesUploaded
from prism_contracts.records import History, Job, JobState
from prism_contracts.rpc import CloneRequest, JobReply, OpenSnapshotReply, OpenSnapshotRequest, SnapshotFile
from prism_ingest.adapters.index import read_manifest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.snapshots import JobFiles, SnapshotStore
from prism_ingest.core import is_final, is_planned, make_plan, new_job, open_ordinals
from prism_ingest.core.contents import address, failed, file_event, skipped
from prism_ingest.core.histories import keepable
from prism_ingest.handlers.jobs import JobHandlers
from prism_ingest.handlers.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_runtime.histories import HistoryStore
from prism_source.clone import mirror
from prism_source.clone_url import CloneRules, check_url
from prism_source.gittree import snapshot_git
from prism_source.limits import FILES_MAX, Limits
from prism_source.pack import decode_pack
from prism_source.paths import path_problem
from prism_source.snapshot import Snapshot

log = logging.getLogger(__name__)


class Opened(NamedTuple):
    """A job under way and what it is to do."""

    job: Job
    files: JobFiles


class SnapshotHandlers:
    """Begins jobs and takes their contents in."""

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
        self._limits = Limits(file_bytes_max=settings.file_bytes_max)
        self._rules = CloneRules(
            schemes=frozenset(settings.clone_schemes.split(",")),
            allow_private=settings.clone_allow_private,
            bytes_max=settings.clone_bytes_max,
            seconds_max=settings.clone_seconds_max,
        )

    async def open_snapshot(self, request: OpenSnapshotRequest) -> OpenSnapshotReply:
        """Begin a job for a snapshot, or go on with it; says which contents are wanted."""
        _check_files(request.files)
        job = new_job(
            tenant=request.tenant,
            repo_name=request.repo_name,
            layer=request.layer,
            lane=request.lane,
            snapshot=request.snapshot,
            state=JobState.INDEXING,
            now=_now(),
        ).model_copy(update={"commit": request.commit, "ref": request.ref, "dirty": request.dirty})
        opened = await self._open(job, request.source, request.files)
        await self._keep_history(opened.job, request.history)
        wanted = () if is_final(opened.job) else tuple(open_ordinals(opened.job, opened.files.needed))
        return OpenSnapshotReply(job=opened.job.model_copy(update={"settled": b""}), needed=wanted)

    async def on_uploaded(self, event: FilesUploaded) -> None:
        """Contents of a job's files came."""
        job = await self._ledger.jobs.get(event.job)
        if job is None or job.tenant != event.tenant:
            raise PrismError(ErrorCode.MESSAGE_INVALID, f"A pack came for an unknown job {event.job}.")
        if is_final(job):
            return
        files = (await self._snapshots.get(job.job)).files
        contents = decode_pack(event.data, self._limits)
        if any(ordinal >= len(files) for ordinal, _ in contents):
            raise PrismError(
                ErrorCode.MESSAGE_INVALID, "A pack names a file that its snapshot does not have."
            )
        await publish_file_events(
            self._bus,
            (self._uploaded_event(job, ordinal, files[ordinal], data) for ordinal, data in contents),
        )

    async def _keep_history(self, job: Job, history: History | None) -> None:
        """Keep what changed lately, in the place of what an older snapshot said. Nothing said leaves what is kept."""
        if history:
            kept = await asyncio.to_thread(keepable, history, job.version)
            await self._histories.put(job.tenant, job.repo, kept)

    def _uploaded_event(self, job: Job, ordinal: int, file: SnapshotFile, data: bytes) -> FileEvent:
        # The client has seen the text and the attributes: its flags are final.
        return file_event(job, ordinal, file, data, limits=self._limits, flags_of=lambda _: file.flags)

    async def clone(self, request: CloneRequest) -> JobReply:
        """Begin a job that clones a git URL."""
        checked = await asyncio.to_thread(check_url, request.url, self._rules)
        if checked.credentials:
            # The command travels on a stream and the URL is kept with the repository.
            raise PrismError(
                ErrorCode.CLONE_REFUSED,
                "The URL holds credentials, which would be stored.",
                "Clone the repository yourself and run `prism index PATH`.",
            )
        name = request.repo_name or checked.name
        job = new_job(
            tenant=request.tenant,
            repo_name=name,
            layer=BASE_LAYER,
            lane=request.lane,
            snapshot=f"{checked.url}\0{request.ref}\0{_now().isoformat()}",
            state=JobState.CLONING,
            now=_now(),
        )
        begun = await self._ledger.begin(job, checked.url, "", self._settings.job_idle_s)
        command = CloneRequested(
            tenant=job.tenant, repo=job.repo, job=job.job, url=request.url, ref=request.ref, lane=request.lane
        )
        await self._bus.publish(names.CLONE_REQUESTED, request.lane, command, command.message_id)
        return JobReply(job=begun)

    async def on_clone_requested(self, command: CloneRequested) -> None:
        """Clone, then go the way of every snapshot."""
        job = await self._ledger.jobs.get(command.job)
        if job is None or is_final(job):
            return
        with tempfile.TemporaryDirectory(
            prefix="prism-clone-", dir=self._settings.clone_dir or None
        ) as folder:
            try:
                # After a restart the same commit as before: the branch may have moved since.
                ref = job.commit or command.ref
                cloned = await asyncio.to_thread(mirror, command.url, Path(folder), self._rules, ref=ref)
                snapshot = await asyncio.to_thread(snapshot_git, cloned.git_dir, cloned.commit, self._limits)
            except PrismError as error:
                await self._jobs.fail(job.job, error.body)
                return
            with snapshot:
                await self._ledger.hear_of(job, cloned.commit)
                named = job.model_copy(
                    update={"commit": cloned.commit, "ref": cloned.ref, "state": JobState.INDEXING}
                )
                opened = await self._open(named, "", snapshot.files)
                await self._keep_history(opened.job, snapshot.history)
                if not is_final(opened.job):
                    wanted = open_ordinals(opened.job, opened.files.needed)
                    await publish_file_events(self._bus, self._read_events(opened.job, snapshot, wanted))

    def _read_events(self, job: Job, snapshot: Snapshot, wanted: list[int]) -> Iterator[FileEvent]:
        for ordinal in wanted:
            file = snapshot.files[ordinal]
            try:
                data = snapshot.read(ordinal)
            except PrismError as error:
                yield failed(job, ordinal, file.path, error.code.value, error.body.message)
            else:
                yield file_event(
                    job, ordinal, file, data, limits=self._limits, flags_of=partial(snapshot.flags, ordinal)
                )

    async def _open(self, job: Job, source: str, files: tuple[SnapshotFile, ...]) -> Opened:
        """Plan the job unless that was done, and publish what needs no content. May be repeated."""
        begun = await self._ledger.begin(job, source, job.commit, self._settings.job_idle_s)
        if is_final(begun):
            return Opened(begun, JobFiles(files=(), needed=(), skipped=(), removed=()))
        if is_planned(begun):
            planned = Opened(begun, await self._snapshots.get(begun.job))
        else:
            planned = await self._plan(begun.model_copy(update=_described(job)), files)
        if is_final(planned.job):
            await self._jobs.end(planned.job)
        else:
            await publish_file_events(self._bus, _content_free_events(planned))
        return planned

    async def _plan(self, job: Job, files: tuple[SnapshotFile, ...]) -> Opened:
        chunker, model = await self._ledger.versions()
        index = await read_manifest(self._bus, job.tenant, job.repo, job.layer)
        plan = make_plan(files, index, chunker, model)
        todo = JobFiles(files=files, needed=plan.needed, skipped=plan.skipped, removed=plan.removed)
        counts = job.counts.model_copy(
            update={
                "seen": len(files),
                "unchanged": plan.unchanged,
                "skipped": plan.still_skipped,
                "bytes": sum(files[ordinal].size_bytes for ordinal in plan.needed),
            }
        )
        planned = job.model_copy(
            update={
                "counts": counts,
                "expected": plan.expected,
                "settled": bytes((len(files) + len(plan.removed) + 7) // 8),
                "updated_at": _now(),
            }
            | ({} if plan.expected else {"state": JobState.COMPLETE, "finished_at": _now()})
        )
        return await self._keep_plan(planned, todo)

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
    return {key: getattr(job, key) for key in ("commit", "ref", "dirty", "state")}


def _check_files(files: tuple[SnapshotFile, ...]) -> None:
    """Refuse a file list that no honest client sends."""
    if len(files) > FILES_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"{len(files)} files are more than the {FILES_MAX} of one snapshot.",
            "Index folders of the repository on their own.",
        )
    seen: set[str] = set()
    for file in files:
        problem = "it occurs twice" if file.path in seen else path_problem(file.path)
        if problem:
            raise PrismError(ErrorCode.INVALID_PATH, f"The path {file.path[:200]!r} is refused: {problem}.")
        seen.add(file.path)


def _now() -> datetime:
    return datetime.now(UTC)
