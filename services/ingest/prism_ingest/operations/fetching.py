"""Repositories that Prism fetches itself: on request, or as a push was heard of. Then they go the way of every snapshot."""

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.events import CloneRequested, FileEvent, PushReceived
from prism_contracts.records import (
    UPLOAD,
    Job,
    JobState,
    Layer,
    LayerKind,
    Repository,
    layer_key,
    repository_key,
)
from prism_contracts.rpc.imports import CloneRequest, JobReply
from prism_contracts.types import RepoName
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.mirrors import Mirrors, Remote
from prism_ingest.adapters.slots import SlotLimits, Slots
from prism_ingest.core import is_final, is_planned, known_commit, new_job
from prism_ingest.core.contents import failed, file_event
from prism_ingest.core.import_limits import ImportLimits, check_import
from prism_ingest.core.layers import BRANCHES, Base, exact_commit, is_followed, layer_of
from prism_ingest.operations.job_tracker import JobHandlers
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.planning import Listing, Opened, Planner
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import DUPLICATE_WINDOW_S, Bus
from prism_source.clone import Mirror
from prism_source.clone_url import CloneUrl
from prism_source.gittree import snapshot_changes, snapshot_git
from prism_source.limits import SourceLimits
from prism_source.snapshot import Snapshot

LOOK_AGAIN_S = 0.1
# For the answer of a server when a branch is said to be gone; after that its job finds out.
LOOK_S_MAX = 10.0
# Commands of a tenant in one lane that are worked on or wait here, beside those of other tenants.
COMMANDS_OF_TENANT_MAX = 16
PUT_BACK_S = 1.0
# Jobs of one lane that publish files at once.
PUBLISHERS = SlotLimits(total=8, of_tenant=4, of_server=1)
# What a mirror that was damaged makes of a file that its tree names.
DAMAGE = frozenset({ErrorCode.FILE_NOT_FOUND, ErrorCode.SOURCE_UNREADABLE})

_REPO_NAME: TypeAdapter[str] = TypeAdapter(RepoName)

log = logging.getLogger(__name__)


class Fetched(NamedTuple):
    """A commit that is here: all of its files, or those that changed and the paths that went (see Listing)."""

    mirror: Mirror
    snapshot: Snapshot
    removed: tuple[str, ...] | None
    base: Base | None  # that the changes are since
    files: int  # how many the commit has; -1: not known


class CloneHandlers:
    """Begins jobs for git URLs and works them off."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        mirrors: Mirrors,
        *,
        planner: Planner,
        layers: LayerRegistry,
        jobs: JobHandlers,
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._mirrors = mirrors
        self._planner = planner
        self._layers = layers
        self._jobs = jobs
        self._job_idle_s = settings.job_idle_s
        self._makes_layers = settings.layers_by_push
        self._limits = settings.limits
        self._import_limits = ImportLimits(settings.import_files_max, settings.import_bytes_max)
        self._here: Counter[tuple[str, Lane]] = Counter()  # commands that are worked on or wait, by tenant
        self._publishers = {lane: Slots(PUBLISHERS) for lane in Lane}

    async def clone(self, request: CloneRequest) -> JobReply:
        """Begin a job that clones a git URL; the one under way if it fetches the same, and the remote is looked at again after it.

        So who hears no answer may ask again. Raises PrismError: CLONE_REFUSED, SNAPSHOT_CONFLICT.
        """
        checked = await self._mirrors.check(request.url)
        if checked.credentials:
            # The command travels on a stream and the URL is kept with the repository.
            raise PrismError(
                ErrorCode.CLONE_REFUSED,
                "The URL contains credentials, which would be stored in plain text.",
                "Store them with `prism secrets NAME`, and give the URL without them.",
            )
        job = new_job(
            key=self._ledger.job_key,
            tenant=request.tenant,
            repo_name=request.repo_name or _name_of(checked),
            layer=BASE_LAYER,
            lane=request.lane,
            snapshot=f"{checked.url}\0{request.ref}\0{_now().isoformat()}",
            state=JobState.CLONING,
            now=_now(),
        )
        origin = Origin(checked.url, request.ref)
        while True:
            try:
                return JobReply(job=await self._begin(job, origin, incremental=False))
            except PrismError as error:
                if error.code is not ErrorCode.SNAPSHOT_CONFLICT:
                    raise
                repository = await self._ledger.repository(job.tenant, job.repo_name)
                if (repository.source, repository.ref) != (origin.source, origin.ref):
                    raise
                active = repository.active_job and await self._ledger.jobs.get(repository.active_job)
                if not active:  # it has just ended, or is about to be written down
                    await asyncio.sleep(LOOK_AGAIN_S)
                elif await self._ledger.postpone(job):
                    if (_now() - active.created_at).total_seconds() < DUPLICATE_WINDOW_S:
                        # Whoever began it may have died before it was told; if not, this is told once.
                        await self._tell(active, origin, incremental=False)
                    return JobReply(job=active.model_copy(update={"settled": b""}))

    async def on_push(self, event: PushReceived) -> None:
        """A remote may have moved: begin a job that looks, or forget the layer of what is gone."""
        repository = await self._ledger.repositories.get(repository_key(event.tenant, event.repo))
        if repository is None or not repository.is_fetched:
            return
        id_ = layer_of(repository, event.pull_request or event.branch, event.default_branch)
        if id_ == BASE_LAYER:
            if not event.is_deleted:
                await self._look(repository, BASE_LAYER, "", event)
            return
        if event.is_deleted:
            layer = await self._layers.find(repository, id_)
            if layer is None:
                return
            if await self._is_gone(repository, layer):
                await self._layers.forget(layer)
                return
        try:
            layer = await self._pushed_layer(repository, id_, event)
        except PrismError as error:
            if error.code is not ErrorCode.RATE_LIMITED:
                raise
            log.warning("cannot create a layer of %s: %s", event.pull_request or event.branch, error)
            return
        if layer is not None:
            await self._look(repository, layer.layer, layer.ref, event)

    async def restore(self, repository: Repository) -> None:
        """Begin a job that reads every file of the base again, unless one is under way: the store lost some of them."""
        job = new_job(
            key=self._ledger.job_key,
            tenant=repository.tenant,
            repo_name=repository.name,
            layer=BASE_LAYER,
            lane=Lane.BULK,
            snapshot=f"restore\0{repository.next_version}",
            state=JobState.CLONING,
            now=_now(),
        )
        try:
            await self._begin(job, Origin(repository.source, repository.ref), incremental=False)
        except PrismError as error:
            if error.code is not ErrorCode.SNAPSHOT_CONFLICT:
                raise

    async def look(self, repository: Repository, layer: Layer, lane: Lane, delivery: str = "") -> Job | None:
        """Begin a job that looks where the source of a layer is now; None if one is under way, after which it is done.

        The same delivery is the same job.
        """
        event = _asked(layer, lane, delivery or f"asked:{_now().isoformat()}")
        return await self._look(repository, layer.layer, layer.ref, event)

    def is_looking(self, repository: Repository, layer: Layer, lane: Lane, delivery: str) -> bool:
        """Whether the active job of a layer is the one that `look` begins for this delivery."""
        job = self._look_job(repository, layer.layer, layer.ref, _asked(layer, lane, delivery))
        return layer.active_job == job.job

    async def _is_gone(self, repository: Repository, layer: Layer) -> bool:
        """Whether what a layer follows is no more: a branch may have been pushed again before its deletion is heard of."""
        if not is_followed(layer) or layer.kind is LayerKind.PULL_REQUEST:
            return True
        remote = Remote(repository.tenant, repository.repo, repository.source)
        try:
            async with asyncio.timeout(LOOK_S_MAX):
                refs = await self._mirrors.refs(remote, [layer.source])
        except (PrismError, TimeoutError):
            return False  # the job that looks tells why
        return not refs.commit(layer.source)

    async def _pushed_layer(self, repository: Repository, id_: str, event: PushReceived) -> Layer | None:
        """The layer of a branch or a pull request, made if it is not there and layers are made by themselves."""
        known = await self._layers.find(repository, id_)
        if known is None and not self._makes_layers:
            return None
        if known is not None and known.source != UPLOAD and not event.pull_request:
            return await self._layers.keep(repository, known.kind, known.ref, known.source)
        if event.pull_request:
            return await self._layers.keep(repository, LayerKind.PULL_REQUEST, event.pull_request, event.ref)
        return await self._layers.keep(
            repository, LayerKind.BRANCH, event.branch, f"{BRANCHES}{event.branch}"
        )

    async def _look(self, repository: Repository, layer: str, ref: str, event: PushReceived) -> Job | None:
        if layer != BASE_LAYER and repository.served is None:
            return None  # the end of the base's first import has all layers looked at
        if event.commit:
            await self._ledger.record_remote_head(
                event.tenant, event.repo, layer, event.commit, event.received_at
            )
        return await self._begin_or_postpone(self._look_job(repository, layer, ref, event), repository)

    def _look_job(self, repository: Repository, layer: str, ref: str, event: PushReceived) -> Job:
        """The job that looks where a layer is at the remote: the same one for the same event."""
        return new_job(
            key=self._ledger.job_key,
            tenant=event.tenant,
            repo_name=repository.name,
            layer=layer,
            lane=event.lane,
            snapshot=event.message_id,
            state=JobState.CLONING,
            now=_now(),
        ).model_copy(update={"pushed_at": event.received_at, "ref": ref})

    async def _begin_or_postpone(self, job: Job, repository: Repository) -> Job | None:
        while True:
            try:
                return await self._begin(job, Origin(repository.source, repository.ref), incremental=True)
            except PrismError as error:
                if error.code is not ErrorCode.SNAPSHOT_CONFLICT:
                    raise
                if await self._ledger.postpone(job):
                    return None

    async def _begin(self, job: Job, origin: Origin, *, incremental: bool) -> Job:
        begun = await self._ledger.begin(job, origin, self._job_idle_s)
        await self._tell(job, origin, incremental=incremental)
        return begun

    async def _tell(self, job: Job, origin: Origin, *, incremental: bool) -> None:
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
        await self._bus.publish(command, lane=job.lane)

    async def on_clone_requested(self, command: CloneRequested) -> None:
        """Fetch, then go the way of every snapshot. Of a tenant with many commands the rest goes to the end of the queue."""
        of_tenant = (command.tenant, command.lane)
        if self._here[of_tenant] >= COMMANDS_OF_TENANT_MAX:
            await self._put_back(command)
            return
        self._here[of_tenant] += 1
        try:
            await self._fetch_and_index(command)
        finally:
            self._here[of_tenant] -= 1

    async def _put_back(self, command: CloneRequested) -> None:
        await asyncio.sleep(PUT_BACK_S)
        # Another id: the bus drops what it has seen.
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
        since = await self._known(job, command)
        async with AsyncExitStack() as open_until_done:
            try:
                remote = await self._source(job, command)
                fetched = await self._fetch(remote, command.lane, since, open_until_done)
            except PrismError as error:
                await self._jobs.fail(job.job, error.body)
                await self._forget_if_gone(job, error.code)
                return
            await self._index(job, Origin(command.url, command.ref), fetched)

    async def _source(self, job: Job, command: CloneRequested) -> Remote:
        """What is fetched; after a restart the same commit as before: the branch may have moved since."""
        ref = command.ref
        if job.layer != BASE_LAYER:
            layer = await self._ledger.layers.get(layer_key(job.tenant, job.repo, job.layer))
            if layer is None:
                raise PrismError(ErrorCode.REF_NOT_FOUND, f"The layer of {job.ref} was deleted.")
            ref = layer.source
        return Remote(job.tenant, job.repo, command.url, ref=job.commit or ref)

    async def _conclude(self, job: Job) -> None:
        """Finish what a process left undone that died after the job had ended and before its command was acknowledged."""
        await self._jobs.conclude(job)
        indexed = await self._ledger.indexed(job.tenant, job.repo, job.layer)
        if job.error and indexed and indexed.next_version == job.version + 1:  # no later job has begun
            await self._forget_if_gone(job, job.error.code)

    async def tell_again(self, job: Job, repository: Repository) -> None:
        """Publish the command of a job that fetches once more: the process that began it may have died before it did."""
        origin = Origin(repository.source, repository.ref)
        await self._tell(job, origin, incremental=job.layer != BASE_LAYER)

    async def _forget_if_gone(self, job: Job, code: ErrorCode) -> None:
        """A layer whose branch is gone goes with it."""
        if job.layer != BASE_LAYER and code is ErrorCode.REF_NOT_FOUND:
            layer = await self._ledger.layers.get(layer_key(job.tenant, job.repo, job.layer))
            if layer is not None:
                await self._layers.forget(layer)

    async def _known(self, job: Job, command: CloneRequested) -> Base:
        """The commit since which changes are enough, if one is sure: that which the base is known to hold.

        Of a job that was planned before, all files may be wanted.
        """
        repository = await self._ledger.repositories.get(repository_key(job.tenant, job.repo))
        if repository is None or repository.served is None or is_planned(job) or not command.incremental:
            return Base(0, "")
        basis = await self._planner.basis()
        if job.layer == BASE_LAYER:
            served = repository.served
            return Base(served.version, known_commit(served, job, basis), served.files)
        return Base(repository.served.version, exact_commit(repository, basis))

    async def _fetch(
        self, remote: Remote, lane: Lane, since: Base, open_until_done: AsyncExitStack
    ) -> Fetched:
        mirrored = await open_until_done.enter_async_context(self._mirrors.fetched(remote, lane))
        fetched = await asyncio.to_thread(self._list, mirrored, since)
        open_until_done.callback(fetched.snapshot.close)
        check_import(fetched.snapshot.files, self._import_limits)
        return fetched

    def _list(self, mirrored: Mirror, since: Base) -> Fetched:
        changes = (
            snapshot_changes(mirrored.git_dir, since.commit, mirrored.commit, self._limits)
            if since.commit
            else None
        )
        if changes is not None:
            files = since.files + changes.added - len(changes.removed) if since.files >= 0 else -1
            return Fetched(mirrored, changes.snapshot, changes.removed, since, files)
        whole = snapshot_git(mirrored.git_dir, mirrored.commit, self._limits)
        return Fetched(mirrored, whole, None, None, len(whole.files))

    async def _index(self, job: Job, origin: Origin, fetched: Fetched) -> None:
        mirrored, snapshot, removed, base, files = fetched
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
        history = snapshot.history if is_base else None
        opened = await self._planner.open(
            named, origin, Listing(snapshot.files, removed, history=history, base=base, total=files)
        )
        try:
            # Files of several jobs are published in turn: one that is large does not keep the others waiting.
            async with self._publishers[opened.job.lane].held(job.tenant, job.repo):
                await publish_file_events(self._bus, read_events(opened, snapshot, self._limits))
        except PrismError as error:
            if error.code in DAMAGE:
                await self._mirrors.forget(mirrored)  # and the command comes again
            raise


def _asked(layer: Layer, lane: Lane, delivery: str) -> PushReceived:
    """What a webhook would have said of the branch of a layer."""
    return PushReceived(
        tenant=layer.tenant,
        repo=layer.repo,
        branch=layer.ref,
        delivery=delivery,
        received_at=_now(),
        lane=lane,
    )


def _name_of(url: CloneUrl) -> str:
    """The name that a URL gives its repository. Raises INVALID_ARGUMENT if no repository may have it."""
    try:
        return _REPO_NAME.validate_python(url.name)
    except ValidationError:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"The URL results in the repository name {shown(url.name)!r}, which is not valid.",
            "Set another one with `name`: owner/name.",
        ) from None


def read_events(opened: Opened, snapshot: Snapshot, limits: SourceLimits) -> Iterator[FileEvent]:
    """What the files of a snapshot that a job wants are. Raises what a damaged mirror makes of a read, see `DAMAGE`."""
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
            yield failed(opened.job, ordinal, file, error.code.value, error.body.message)
        else:
            flags_of = partial(snapshot.flags, position)
            yield file_event(opened.job, ordinal, file, data, limits=limits, flags_of=flags_of)


def _now() -> datetime:
    return datetime.now(UTC)
