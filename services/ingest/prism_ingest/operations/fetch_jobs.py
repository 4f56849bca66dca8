"""Begins jobs that fetch a repository, and publishes their commands. `fetching` runs the commands.

In: a git URL, or a layer whose remote may have moved. Out: a job and `CloneRequested`. Never fetches.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.events import CloneRequested, PushReceived
from prism_contracts.records import Job, JobState, Layer, Repository
from prism_contracts.rpc.imports import CloneRequest
from prism_contracts.rpc.repositories import RegisterRequest, ReindexRequest
from prism_contracts.types import RepoName
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.mirrors import Mirrors
from prism_ingest.core import new_job, without_bits
from prism_ingest.core.callers import check_may_import
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import DUPLICATE_WINDOW_S, Bus
from prism_source.clone_url import CloneUrl, normalized_location

RETRY_S = 0.1

_REPO_NAME: TypeAdapter[str] = TypeAdapter(RepoName)


class NamedUrl(NamedTuple):
    """The name of a repository, and its URL without credentials."""

    name: str
    url: str


class FetchJobs:
    """Jobs that fetch."""

    def __init__(self, bus: Bus, ledger: Ledger, mirrors: Mirrors, settings: IngestSettings) -> None:
        self._bus = bus
        self._ledger = ledger
        self._mirrors = mirrors
        self._job_idle_s = settings.job_idle_s

    async def clone(self, request: CloneRequest) -> Job:
        """Begin a job that clones a git URL.

        Idempotent: returns the running job for the same source, so a caller may retry after a timeout. The
        remote is then fetched again when that job ends. Raises PrismError: CLONE_REFUSED, REPO_EXISTS, SNAPSHOT_CONFLICT.
        """
        name, url = await self.check(request)
        job = new_job(
            key=self._ledger.job_key,
            tenant=request.tenant,
            repo=await self._ledger.names.id_of(request.tenant, name),
            repo_name=name,
            layer=BASE_LAYER,
            lane=request.lane,
            snapshot=f"{url}\0{request.ref}\0{_now().isoformat()}",
            state=JobState.CLONING,
            now=_now(),
        ).model_copy(update={"force": request.force})
        return await self._begin_or_join(
            job, Origin(url, request.ref), lambda active: not request.force or _covers(active, job)
        )

    async def check(self, request: CloneRequest | RegisterRequest) -> "NamedUrl":
        """Returns the name of a repository and its URL. Contacts nothing but the resolver of host names.

        Raises FORBIDDEN if the caller may not see the name, INVALID_ARGUMENT, CLONE_REFUSED, and REPO_EXISTS if
        the request has no name and another source has the one that the URL implies.
        """
        if request.repo_name:
            check_may_import(request, request.repo_name)
        checked = await self._mirrors.check(request.url)
        name = request.repo_name or _name_of(checked)
        check_may_import(request, name)
        if checked.credentials:
            # The command travels on a stream and the URL is stored with the repository.
            raise PrismError(
                ErrorCode.CLONE_REFUSED,
                "The URL contains credentials, which would be stored in plain text.",
                "Store them with `prism secrets NAME`, and give the URL without them.",
            )
        if not request.repo_name:
            await self._check_is_free(request.tenant, name, checked.url)
        return NamedUrl(name, checked.url)

    async def _check_is_free(self, tenant: str, name: str, url: str) -> None:
        """Raises REPO_EXISTS if another source has the name. Spellings of one location are the same source."""
        known = await self._ledger.named(tenant, name)
        if known is None or known.source == url:
            return
        location = normalized_location(url)
        if not location or normalized_location(known.source) != location:
            raise PrismError(
                ErrorCode.REPO_EXISTS,
                f"There is a repository {name} already, with another source.",
                f"Choose another name for the URL. To replace the source of {name}, give its name with the URL.",
            )

    async def reindex(self, request: ReindexRequest) -> Job:
        """Begin a job that imports a repository again.

        Idempotent as `clone`. Raises REPO_NOT_FOUND, INVALID_ARGUMENT for uploads, and SNAPSHOT_CONFLICT if a
        job is running that reads fewer files than requested.
        """
        repository = await self._ledger.seen_by(request, request.repo)
        if not repository.is_fetched:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"{repository.name} is uploaded by clients: Prism has no URL to fetch.",
                "Upload it again: `prism index PATH`.",
            )
        job = new_job(
            key=self._ledger.job_key,
            tenant=repository.tenant,
            repo=repository.repo,
            repo_name=repository.name,
            layer=BASE_LAYER,
            lane=request.lane,
            snapshot=f"again\0{_now().isoformat()}",
            state=JobState.CLONING,
            now=_now(),
        ).model_copy(update={"incremental": not (request.full or request.force), "force": request.force})
        return await self._begin_or_join(job, Origin.of(repository), lambda active: _covers(active, job))

    async def restore(self, repository: Repository) -> None:
        """Begin a job that reads every file of the base again, because the store lost some.

        Does nothing if a job is active.
        """
        job = new_job(
            key=self._ledger.job_key,
            tenant=repository.tenant,
            repo=repository.repo,
            repo_name=repository.name,
            layer=BASE_LAYER,
            lane=Lane.BULK,
            snapshot=f"restore\0{repository.next_version}",
            state=JobState.CLONING,
            now=_now(),
        )
        try:
            await self._begin(job, Origin.of(repository))
        except PrismError as error:
            if error.code is not ErrorCode.SNAPSHOT_CONFLICT:
                raise

    async def update(
        self, repository: Repository, layer: Layer, lane: Lane, delivery: str = ""
    ) -> Job | None:
        """Begin a job that brings a layer to the head of its source.

        Returns None if a job is active; the layer is then updated when that job ends. The same delivery
        gives the same job.
        """
        event = _requested(layer, lane, delivery or f"asked:{_now().isoformat()}")
        return await self.follow(repository, layer.layer, layer.ref, event)

    def is_updating(self, repository: Repository, layer: Layer, lane: Lane, delivery: str) -> bool:
        """Whether the active job of a layer is the one that `update` begins for this delivery."""
        job = self._update_job(repository, layer.layer, layer.ref, _requested(layer, lane, delivery))
        return layer.active_job == job.job

    async def follow(self, repository: Repository, layer: str, ref: str, event: PushReceived) -> Job | None:
        """Begin the job of a push. Returns None if it has to wait for the active job, or for the base."""
        if layer != BASE_LAYER and repository.served is None:
            return None  # the first import of the base updates all layers when it ends
        if event.commit:
            await self._ledger.record_remote_head(
                event.tenant, event.repo, layer, event.commit, event.received_at
            )
        return await self._begin_or_postpone(self._update_job(repository, layer, ref, event), repository)

    async def publish_again(self, job: Job, repository: Repository) -> None:
        """Publish the command of a job again: the process that began the job may have died before it did."""
        await self._publish(job, Origin.of(repository))

    def _update_job(self, repository: Repository, layer: str, ref: str, event: PushReceived) -> Job:
        """Returns the job that fetches a layer; the same event gives the same job."""
        return new_job(
            key=self._ledger.job_key,
            tenant=event.tenant,
            repo=repository.repo,
            repo_name=repository.name,
            layer=layer,
            lane=event.lane,
            snapshot=event.message_id,
            state=JobState.CLONING,
            now=_now(),
        ).model_copy(update={"pushed_at": event.received_at, "ref": ref, "incremental": True})

    async def _begin_or_postpone(self, job: Job, repository: Repository) -> Job | None:
        while True:
            try:
                return await self._begin(job, Origin.of(repository))
            except PrismError as error:
                if error.code is not ErrorCode.SNAPSHOT_CONFLICT:
                    raise
                if await self._ledger.postpone(job):
                    return None

    async def _begin_or_join(self, job: Job, origin: Origin, may_join: Callable[[Job], bool]) -> Job:
        """Begin a job, or return the running one of the same source, if it may be joined.

        The remote is then fetched again when that job ends. Raises SNAPSHOT_CONFLICT.
        """
        while True:
            try:
                return await self._begin(job, origin)
            except PrismError as error:
                if error.code is not ErrorCode.SNAPSHOT_CONFLICT:
                    raise
                repository = await self._ledger.repository(job.tenant, job.repo_name)
                if (repository.source, repository.ref) != (origin.source, origin.ref):
                    raise
                active = repository.active_job and await self._ledger.jobs.get(repository.active_job)
                if not active:  # it has just ended, or its record is about to be written
                    await asyncio.sleep(RETRY_S)
                    continue
                if not may_join(active):
                    raise
                if await self._ledger.postpone(job):
                    if (_now() - active.created_at).total_seconds() < DUPLICATE_WINDOW_S:
                        # The process that began it may have died before it published. Otherwise JetStream
                        # drops this duplicate.
                        await self._publish(active, origin)
                    return without_bits(active)

    async def _begin(self, job: Job, origin: Origin) -> Job:
        begun = await self._ledger.begin(job, origin, self._job_idle_s)
        await self._publish(job, origin)
        return begun

    async def _publish(self, job: Job, origin: Origin) -> None:
        command = CloneRequested(
            tenant=job.tenant,
            repo=job.repo,
            layer=job.layer,
            job=job.job,
            url=origin.source,
            ref=origin.ref,
            incremental=job.incremental,
            lane=job.lane,
        )
        await self._bus.publish(command, lane=job.lane)


def _requested(layer: Layer, lane: Lane, delivery: str) -> PushReceived:
    """Returns the event that a webhook would have caused for the branch of a layer."""
    return PushReceived(
        tenant=layer.tenant,
        repo=layer.repo,
        branch=layer.ref,
        delivery=delivery,
        received_at=_now(),
        lane=lane,
    )


def _covers(active: Job, job: Job) -> bool:
    """Whether a running job reads at least the files that another one would."""
    return (active.force or not job.force) and (job.incremental or not active.incremental)


def _name_of(url: CloneUrl) -> str:
    """Returns the repository name that a URL implies. Raises INVALID_ARGUMENT if it is not a valid name."""
    try:
        return _REPO_NAME.validate_python(url.name)
    except ValidationError:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"The URL results in the repository name {shown(url.name)!r}, which is not valid.",
            "Set another one with `name`: owner/name.",
        ) from None


def _now() -> datetime:
    return datetime.now(UTC)
