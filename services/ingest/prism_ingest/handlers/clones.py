"""Repositories that Prism fetches itself: on request, or as a push was heard of. Then they go the way of every snapshot."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from prism_contracts import names
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import CloneRequested, FileEvent, PushReceived
from prism_contracts.records import Job, JobState, Repository, repository_key
from prism_contracts.rpc import CloneRequest, JobReply
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.mirrors import Mirrors, Remote
from prism_ingest.core import is_final, is_planned, known_commit, layer_of, new_job
from prism_ingest.core.contents import failed, file_event
from prism_ingest.handlers.jobs import JobHandlers
from prism_ingest.handlers.planning import Listing, Opened, Planner
from prism_ingest.handlers.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_source.clone import Mirror
from prism_source.clone_url import check_url
from prism_source.gittree import snapshot_changes, snapshot_git
from prism_source.limits import Limits
from prism_source.snapshot import Snapshot

# What a mirror that was damaged makes of a file that its tree names.
DAMAGE = frozenset({ErrorCode.FILE_NOT_FOUND, ErrorCode.SOURCE_UNREADABLE})


class Fetched(NamedTuple):
    """A commit that is here: all of its files, or those that changed and the paths that went (see Listing)."""

    mirror: Mirror
    snapshot: Snapshot
    removed: tuple[str, ...] | None


class CloneHandlers:
    """Begins jobs for git URLs and works them off."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        mirrors: Mirrors,
        *,
        planner: Planner,
        jobs: JobHandlers,
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._mirrors = mirrors
        self._planner = planner
        self._jobs = jobs
        self._job_idle_s = settings.job_idle_s
        self._limits = Limits(file_bytes_max=settings.file_bytes_max)

    async def clone(self, request: CloneRequest) -> JobReply:
        """Begin a job that clones a git URL."""
        checked = await asyncio.to_thread(check_url, request.url, self._mirrors.rules)
        if checked.credentials:
            # The command travels on a stream and the URL is kept with the repository.
            raise PrismError(
                ErrorCode.CLONE_REFUSED,
                "The URL holds credentials, which would be stored.",
                "Keep them with `prism secrets NAME`, and give the URL without them.",
            )
        job = new_job(
            tenant=request.tenant,
            repo_name=request.repo_name or checked.name,
            layer=BASE_LAYER,
            lane=request.lane,
            snapshot=f"{checked.url}\0{request.ref}\0{_now().isoformat()}",
            state=JobState.CLONING,
            now=_now(),
        )
        begun = await self._begin(job, Origin(checked.url, request.ref), incremental=False)
        return JobReply(job=begun)

    async def on_push(self, event: PushReceived) -> None:
        """A remote may have moved: begin a job that looks, unless nothing follows the branch."""
        repository = await self._ledger.repositories.get(repository_key(event.tenant, event.repo))
        if repository is None or not repository.is_fetched:
            return
        layer = layer_of(repository, event.branch, event.default_branch)
        if layer is None:
            return
        if event.commit:
            await self._ledger.hear_of(event.tenant, event.repo, event.commit, event.received_at)
        job = new_job(
            tenant=event.tenant,
            repo_name=repository.name,
            layer=layer,
            lane=event.lane,
            snapshot=event.message_id,
            state=JobState.CLONING,
            now=_now(),
        ).model_copy(update={"pushed_at": event.received_at})
        await self._begin_or_postpone(job, repository)

    async def _begin_or_postpone(self, job: Job, repository: Repository) -> None:
        while True:
            try:
                await self._begin(job, Origin(repository.source, repository.ref), incremental=True)
            except PrismError as error:
                if error.code is not ErrorCode.SNAPSHOT_CONFLICT:
                    raise
                if await self._ledger.postpone(job):
                    return
            else:
                return

    async def _begin(self, job: Job, origin: Origin, *, incremental: bool) -> Job:
        begun = await self._ledger.begin(job, origin, self._job_idle_s)
        command = CloneRequested(
            tenant=job.tenant,
            repo=job.repo,
            layer=job.layer,
            job=job.job,
            url=origin.source,
            ref=origin.ref,
            incremental=incremental,
            lane=job.lane,
        )
        await self._bus.publish(names.CLONE_REQUESTED, job.lane, command, command.message_id)
        return begun

    async def on_clone_requested(self, command: CloneRequested) -> None:
        """Fetch, then go the way of every snapshot."""
        job = await self._ledger.jobs.get(command.job)
        if job is None or is_final(job):
            return
        since = await self._known_commit(job) if command.incremental else ""
        async with AsyncExitStack() as open_until_done:
            try:
                fetched = await self._fetch(job, command, since, open_until_done)
            except PrismError as error:
                await self._jobs.fail(job.job, error.body)
                return
            await self._index(job, Origin(command.url, command.ref), fetched)

    async def _known_commit(self, job: Job) -> str:
        """The commit since which changes are enough. Of a job that was planned before, all files may be wanted."""
        repository = await self._ledger.repositories.get(repository_key(job.tenant, job.repo))
        if repository is None or is_planned(job):
            return ""
        return known_commit(repository.served, job, await self._planner.basis())

    async def _fetch(
        self, job: Job, command: CloneRequested, since: str, open_until_done: AsyncExitStack
    ) -> Fetched:
        # After a restart the same commit as before: the branch may have moved since.
        remote = Remote(job.tenant, job.repo, command.url, ref=job.commit or command.ref)
        mirrored = await open_until_done.enter_async_context(self._mirrors.fetched(remote))
        fetched = await asyncio.to_thread(self._list, mirrored, since)
        open_until_done.callback(fetched.snapshot.close)
        return fetched

    def _list(self, mirrored: Mirror, since: str) -> Fetched:
        changes = snapshot_changes(mirrored.git_dir, since, mirrored.commit, self._limits) if since else None
        if changes is not None:
            return Fetched(mirrored, *changes)
        return Fetched(mirrored, snapshot_git(mirrored.git_dir, mirrored.commit, self._limits), None)

    async def _index(self, job: Job, origin: Origin, fetched: Fetched) -> None:
        mirrored, snapshot, removed = fetched
        await self._ledger.hear_of(job.tenant, job.repo, mirrored.commit, _now())
        named = job.model_copy(
            update={
                "commit": mirrored.commit,
                "ref": mirrored.ref or job.ref,
                "state": JobState.INDEXING,
                "fetched_at": _now(),
            }
        )
        listing = Listing(snapshot.files, removed, history=snapshot.history)
        opened = await self._planner.open(named, origin, listing)
        try:
            await publish_file_events(self._bus, self._read_events(opened, snapshot))
        except PrismError as error:
            if error.code in DAMAGE:
                self._mirrors.forget(mirrored)  # and the command comes again
            raise

    def _read_events(self, opened: Opened, snapshot: Snapshot) -> Iterator[FileEvent]:
        # What was planned before a restart may have been listed otherwise: paths are what the two have in common.
        positions = {file.path: position for position, file in enumerate(snapshot.files)}
        for ordinal in opened.wanted:
            file = opened.files.files[ordinal]
            position = positions[file.path]
            try:
                data = snapshot.read(position)
            except PrismError as error:
                if error.code in DAMAGE:
                    raise
                yield failed(opened.job, ordinal, file.path, error.code.value, error.body.message)
            else:
                flags_of = partial(snapshot.flags, position)
                yield file_event(opened.job, ordinal, file, data, limits=self._limits, flags_of=flags_of)


def _now() -> datetime:
    return datetime.now(UTC)
