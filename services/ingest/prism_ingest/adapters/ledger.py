"""Repositories, jobs and model versions: ingest's records in JetStream."""

import secrets
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import NamedTuple, Self, TypeVar

from nats.js import JetStreamContext

from prism_catalog.repository_names import RepositoryNames
from prism_contracts import names
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, shown
from prism_contracts.records import (
    CHUNKER_KEY,
    FAST_MODEL_KEY,
    INSTALLATION,
    UPLOAD,
    Indexed,
    Installation,
    Job,
    JobState,
    Layer,
    LayerState,
    ModelVersion,
    Repository,
    layer_key,
    repository_key,
)
from prism_contracts.rpc.common import CallerRequest
from prism_ingest.adapters.quotas import Quotas
from prism_ingest.core import fail_job, is_final
from prism_ingest.core.layers import layer_version
from prism_runtime.records import Records, open_bucket

NAMES_SHOWN_MAX = 20
JOB_KEY_BYTES = 32

Record = TypeVar("Record", bound=Indexed)


# Factor on the idle time of jobs that clone: a clone may wait for others and reports no progress. By default
# the result is twice PRISM_CLONE_SECONDS_MAX.
CLONING_PATIENCE = 6


class Origin(NamedTuple):
    """Where the files of a repository come from."""

    source: str  # UPLOAD, or a git URL without credentials
    ref: str = ""  # the ref that is followed; empty: the default branch
    # Whether a caller gave it. Else it is what the record said a moment ago, which may have changed since.
    is_given: bool = True

    @classmethod
    def of(cls, repository: Repository) -> Self:
        """Returns the origin that a repository has."""
        return cls(repository.source, repository.ref, is_given=False)


class Ledger:
    """The records that ingest writes."""

    def __init__(
        self,
        repositories: Records[Repository],
        layers: Records[Layer],
        jobs: Records[Job],
        *,
        model_versions: Records[ModelVersion],
        names: RepositoryNames,
        job_key: bytes,
        quotas: Quotas | None = None,
    ) -> None:
        """Without `quotas`, plans limit nothing."""
        self._quotas = quotas
        self.names = names
        self.repositories = repositories
        self.layers = layers
        self.jobs = jobs
        self._model_versions = model_versions
        self.job_key = job_key

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int, quotas: Quotas | None = None) -> "Ledger":
        """Open the ledger, and create its buckets if they do not exist."""
        repositories = await open_bucket(js, names.KV_REPOSITORIES, replicas=replicas)
        layers = await open_bucket(js, names.KV_LAYERS, replicas=replicas)
        jobs = await open_bucket(js, names.KV_JOBS, ttl_s=names.JOBS_MAX_AGE_S, replicas=replicas)
        model_versions = await open_bucket(js, names.KV_MODEL_VERSIONS, replicas=replicas)
        repository_names = RepositoryNames()
        await repository_names.open(js, replicas=replicas)
        return cls(
            Records(repositories, Repository),
            Records(layers, Layer),
            Records(jobs, Job),
            quotas=quotas,
            model_versions=Records(model_versions, ModelVersion),
            names=repository_names,
            job_key=await _job_key(js, replicas),
        )

    async def versions(self) -> tuple[str, str]:
        """Returns the chunker's version and the fast model's fingerprint.

        Raises UNAVAILABLE until both services have published theirs.
        """
        chunker = await self._model_versions.get(CHUNKER_KEY)
        model = await self._model_versions.get(FAST_MODEL_KEY)
        if chunker is None or model is None:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The chunker or the embedder has not started yet.",
                "Retry in a few seconds.",
            )
        return chunker.version, model.version

    async def named(self, tenant: str, name: str) -> Repository | None:
        """Returns the repository that a full name means now, if there is one."""
        return await self.repositories.get(repository_key(tenant, await self.names.id_of(tenant, name)))

    async def repository(self, tenant: str, name: str) -> Repository:
        """Returns a repository by full name or id. Raises REPO_NOT_FOUND, which lists the existing ones."""
        return await self.seen_by(CallerRequest(tenant=tenant), name)

    async def seen_by(self, request: CallerRequest, name: str) -> Repository:
        """Returns a repository that a caller may see, by full name or id.

        Raises REPO_NOT_FOUND, which lists those that the caller may see.
        """
        for repo in (await self.names.id_of(request.tenant, name), name):
            found = await self.repositories.get(repository_key(request.tenant, repo))
            if found is not None and request.sees(found.name):
                return found
        every = await self.repositories.all()
        known = sorted(one.name for one in every if one.tenant == request.tenant and request.sees(one.name))
        raise PrismError(
            ErrorCode.REPO_NOT_FOUND,
            f"There is no repository {shown(name)}.",
            "Index it first: `prism index PATH_OR_GIT_URL`.",
            repositories=known[:NAMES_SHOWN_MAX],
        )

    async def register(self, fresh: Repository) -> Repository:
        """Create the record of a repository. Returns the existing one if there is one.

        Raises LIMIT_EXCEEDED, and UNAVAILABLE if a repository with this id was removed.
        """
        quotas = self._quotas
        async with quotas.admitted_repository(fresh.tenant, fresh.repo) if quotas else nullcontext():
            return await self._write_base(fresh.tenant, fresh.name, fresh.repo, lambda found: found or fresh)

    async def change(self, repository: Repository, changes: Mapping[str, object]) -> Repository:
        """Change fields of a repository's record. Raises REPO_NOT_FOUND if it was removed meanwhile."""
        changed = await self.repositories.change(
            repository.key, lambda found: found.model_copy(update=dict(changes))
        )
        return changed or await self.repository(repository.tenant, repository.repo)

    async def rename(self, repository: Repository, changes: Mapping[str, object]) -> Repository:
        """Change the name fields of a record unless another rename has. Cached answers have the old name."""

        def changed(found: Repository) -> Repository:
            if (found.name, found.renaming_to) != (repository.name, repository.renaming_to):
                return found
            return found.model_copy(update={**changes, "cache_epoch": found.cache_epoch + 1})

        written = await self.repositories.change(repository.key, changed)
        return written or await self.repository(repository.tenant, repository.repo)

    async def clear_cache(self, repository: Repository) -> Repository:
        """Make cached answers of a repository unreachable. Raises REPO_NOT_FOUND if it was removed meanwhile."""
        changed = await self.repositories.change(
            repository.key, lambda found: found.model_copy(update={"cache_epoch": found.cache_epoch + 1})
        )
        return changed or await self.repository(repository.tenant, repository.repo)

    async def job_seen_by(self, request: CallerRequest, job_id: str) -> Job | None:
        """Returns a job whose repository the caller may see, or None."""
        job = await self.jobs.get(job_id)
        if job is None or job.tenant != request.tenant:
            return None
        repository = await self.repositories.get(repository_key(job.tenant, job.repo))
        return job if request.sees(repository.name if repository else job.repo_name) else None

    async def begin(self, job: Job, origin: Origin, idle_s: float) -> Job:
        """Give the job the next version of its repository or layer, and make it the active job there.

        Creates the record of an unknown repository, but not of a layer. Returns a begun job unchanged.
        Raises REF_NOT_FOUND, LIMIT_EXCEEDED, JOB_NOT_FOUND if the job had begun and was removed with its
        repository, and SNAPSHOT_CONFLICT while another job of the same layer makes progress.

        The job is written before the record that names it, so a record never names a missing job. If the
        process dies between the two writes, the job has no version, and begins at the next request for it.
        """
        known = await self.jobs.get(job.job)
        if known is not None and known.version:
            return known
        retired = await self._retire_active(job, idle_s)
        async with self._quotas.admitted(job) if self._quotas else nullcontext():
            await self.jobs.modify(job.job, lambda found: found or _new(job))
            try:
                version = await self._take_turn(job, origin, retired)
            except PrismError:
                await self.jobs.delete_if(job.job, lambda found: not found.version)
                raise
        return await self.jobs.modify(
            job.job,
            lambda found: found if found and found.version else job.model_copy(update={"version": version}),
        )

    async def _take_turn(self, job: Job, origin: Origin, retired: str) -> int:
        """Make the job the active one. Returns its version, which does not change if it is active already."""
        begun: Indexed
        if job.layer == BASE_LAYER:
            begun = await self._write_base(
                job.tenant,
                job.repo_name,
                job.repo,
                lambda found: _begun_base(found, job, origin, retired),
            )
        else:
            key = layer_key(job.tenant, job.repo, job.layer)
            begun = await self.layers.modify(key, lambda found: _begun_layer(found, job, origin, retired))
        return begun.next_version - 1

    async def _write_base(
        self, tenant: str, name: str, repo: str, change: Callable[[Repository | None], Repository]
    ) -> Repository:
        """Change the record of a repository, or create it.

        Raises UNAVAILABLE if a repository with this id was removed.
        """
        key = repository_key(tenant, repo)
        if await self.repositories.get(key) is not None:
            return await self.repositories.modify(key, change)
        await self._check_current(tenant, name, repo)
        # A process that died during a removal may have left its record, which has the same name.
        for gone in await self.names.removed(tenant, name):
            await self.drop_repository(tenant, gone.repo)
        written = await self.repositories.modify(key, change)
        try:
            await self._check_current(tenant, name, repo)  # again: it may have been removed meanwhile
        except PrismError:
            await self.drop_repository(tenant, repo)
            raise
        return written

    async def _check_current(self, tenant: str, name: str, repo: str) -> None:
        if await self.names.id_of(tenant, name) != repo:
            raise PrismError(
                ErrorCode.UNAVAILABLE, f"{name} was removed at this moment.", "Retry, to add it again."
            )

    async def drop_repository(self, tenant: str, repo: str) -> Repository | None:
        """Delete the record of a removed repository. Returns it, or None if it did not exist."""
        return await self.repositories.delete_if(repository_key(tenant, repo), lambda _: True)

    async def renew_version(self, job: Job) -> Job:
        """Returns a layer's job with a version of the current time, which everything it writes will have.

        The job may have waited for long since it began. Returns the same job if its layer was deleted.
        """
        layer = await self._change(
            _of(job), lambda found: {"next_version": layer_version(found.next_version, datetime.now(UTC)) + 1}
        )
        return job if layer is None else job.model_copy(update={"version": layer.next_version - 1})

    async def indexed(self, tenant: str, repo: str, layer: str) -> Repository | Layer | None:
        """Returns the record of a repository's base or of one of its layers."""
        if layer == BASE_LAYER:
            return await self.repositories.get(repository_key(tenant, repo))
        return await self.layers.get(layer_key(tenant, repo, layer))

    async def record_remote_head(self, tenant: str, repo: str, layer: str, commit: str, at: datetime) -> None:
        """Record the remote's head commit. Until a job imports it, the served state counts as behind."""
        changes = {"head_commit": commit, "head_seen_at": at}
        await self._change(
            (tenant, repo, layer), lambda found: {} if found.head_commit == commit else changes
        )

    async def postpone(self, job: Job) -> bool:
        """Have the remote fetched again when the active job ends. Returns False if no job is active."""
        indexed = await self._change(_of(job), lambda found: {"is_pushed": bool(found.active_job)})
        return indexed is not None and bool(indexed.active_job)

    async def forget_push(self, job: Job) -> None:
        """Record that the push that arrived while the job ran is being handled."""
        await self._change(_of(job), lambda _: {"is_pushed": False})

    async def is_active(self, job: Job) -> bool:
        """Whether the job is the active one of its repository or layer."""
        indexed = await self.indexed(*_of(job))
        return indexed is not None and indexed.active_job == job.job

    async def finish(self, job: Job, changes: Mapping[str, object]) -> Indexed | None:
        """Serve the result of the job, apply `changes` to the record, and let the next job begin.

        Returns None if the layer was deleted.
        """
        return await self._change(
            _of(job), lambda found: _released(found, job.job) | _serving(found, job, changes)
        )

    async def release(self, job: Job) -> Indexed | None:
        """Let the next job begin, and keep the served state. Returns None if the layer was deleted."""
        return await self._change(_of(job), lambda found: _released(found, job.job) | _unfinished(found, job))

    async def give_up_idle(self, layer: Layer, idle_s: float) -> None:
        """Abandon the active job of a layer if it makes no progress, and let the next one begin."""
        now = datetime.now(UTC)
        active = await self.jobs.get(layer.active_job)
        if active is not None:
            if not _is_idle(active, idle_s, now):
                return
            error = ErrorBody(
                code=ErrorCode.JOB_ABANDONED,
                message=f"No progress for {idle_s:.0f} s.",
                next_action="Send the snapshot again.",
            )
            await self.jobs.modify(
                active.job, lambda found: fail_job(found or active, error, now, JobState.ABANDONED)
            )
        await self._change(
            (layer.tenant, layer.repo, layer.layer), lambda found: _released(found, layer.active_job)
        )

    async def switch(self, layer: Layer, version: int, changes: Mapping[str, object]) -> bool:
        """Have a layer serve other files without a job. Returns False if it changed after `layer` was read."""
        is_switched = False

        def changed(found: Indexed) -> Mapping[str, object]:
            nonlocal is_switched
            is_same = (found.served, found.next_version) == (layer.served, layer.next_version)
            is_switched = is_same and found.served is not None
            if not is_same or found.served is None:
                return {}
            return {**changes, "served": found.served.model_copy(update={"version": version})}

        await self._change((layer.tenant, layer.repo, layer.layer), changed)
        return is_switched

    async def _change(
        self, place: tuple[str, str, str], change: Callable[[Indexed], Mapping[str, object]]
    ) -> Indexed | None:
        """Change fields of a record. Returns None if it does not exist, because a layer may be deleted."""

        def changed(found: Record | None) -> Record:
            if found is None:
                raise _GoneError
            return found.model_copy(update=dict(change(found)))

        tenant, repo, layer = place
        try:
            if layer == BASE_LAYER:
                return await self.repositories.modify(repository_key(tenant, repo), changed)
            return await self.layers.modify(layer_key(tenant, repo, layer), changed)
        except _GoneError:
            return None

    async def _retire_active(self, job: Job, idle_s: float) -> str:
        """Abandon the active job if it makes no progress, and return its id. Else raise SNAPSHOT_CONFLICT."""
        indexed = await self.indexed(*_of(job))
        if indexed is None or indexed.active_job in {"", job.job}:
            return ""
        active = await self.jobs.get(indexed.active_job)
        if active is not None and not is_final(active):
            await self.jobs.modify(active.job, lambda found: _given_up(found or active, job, idle_s))
        return indexed.active_job


class _GoneError(Exception):
    """The record does not exist."""


def _of(job: Job) -> tuple[str, str, str]:
    return job.tenant, job.repo, job.layer


def _given_up(active: Job, job: Job, idle_s: float) -> Job:
    """Returns the active job as abandoned for another. Raises SNAPSHOT_CONFLICT if it makes progress."""
    now = datetime.now(UTC)
    if not is_final(active) and not _is_idle(active, idle_s, now):
        raise _conflict(job, active.job)
    error = ErrorBody(
        code=ErrorCode.JOB_ABANDONED,
        message=f"No progress for {idle_s:.0f} s when job {job.job} started.",
        next_action="Check that job.",
    )
    return fail_job(active, error, now, JobState.ABANDONED)


def _is_idle(job: Job, idle_s: float, now: datetime) -> bool:
    """Whether a job has made no progress for too long."""
    patience = CLONING_PATIENCE if job.state is JobState.CLONING else 1
    return (now - job.updated_at).total_seconds() >= idle_s * patience


async def _job_key(js: JetStreamContext, replicas: int) -> bytes:
    """Returns the secret that job ids are derived with. The first caller creates it."""
    records = Records(await open_bucket(js, names.KV_INSTALLATION, replicas=replicas), Installation)
    fresh = Installation(job_key=secrets.token_bytes(JOB_KEY_BYTES))
    return (await records.modify(INSTALLATION, lambda found: found or fresh)).job_key


def _new(job: Job) -> Job:
    """Returns a job that may get a record.

    Raises JOB_NOT_FOUND if it had one: nothing would delete a record that is written after a removal.
    """
    if job.version:
        raise PrismError(
            ErrorCode.JOB_NOT_FOUND,
            f"The job {job.job} was removed with its repository.",
            "Index the repository again.",
        )
    return job


def _begun_base(found: Repository | None, job: Job, origin: Origin, retired: str) -> Repository:
    now = datetime.now(UTC)
    repository = found or Repository(
        tenant=job.tenant,
        repo=job.repo,
        name=job.repo_name,
        source=origin.source,
        created_at=now,
    )
    # For a git URL, only the remote reports the head, not a client that edits a file on top of it.
    head = job.commit if origin.source == UPLOAD else ""
    return repository.model_copy(
        update=_begun(repository, job, retired, repository.next_version)
        | ({"source": origin.source, "ref": origin.ref} if origin.is_given else {})
        | ({"head_commit": head, "head_seen_at": now} if head else {})
    )


def _begun_layer(found: Layer | None, job: Job, origin: Origin, retired: str) -> Layer:
    if found is None:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND, f"{job.repo_name} has no layer of {job.ref}.", "Create it again."
        )
    now = datetime.now(UTC)
    version = layer_version(found.next_version, now)
    # An uploaded layer is no longer fetched. For a fetched one, the remote reports the head.
    uploaded = (
        {"source": UPLOAD, "head_commit": job.commit, "head_seen_at": now} if origin.source == UPLOAD else {}
    )
    return found.model_copy(update=_begun(found, job, retired, version) | uploaded)


def _begun(indexed: Indexed, job: Job, retired: str, version: int) -> dict[str, object]:
    if indexed.active_job not in {"", job.job, retired}:
        raise _conflict(job, indexed.active_job)  # it began since the last read
    if indexed.active_job == job.job:
        return {}
    return {"next_version": version + 1, "active_job": job.job, "last_job": job.job}


def _conflict(job: Job, active: str) -> PrismError:
    return PrismError(
        ErrorCode.SNAPSHOT_CONFLICT,
        f"{job.repo_name} is being indexed by job {active}.",
        "Wait for that job, then send the snapshot again.",
        job=active,
    )


def _released(indexed: Indexed, job: str) -> dict[str, object]:
    return {"active_job": ""} if indexed.active_job == job else {}


def _unfinished(indexed: Indexed, job: Job) -> dict[str, object]:
    """Marks a base whose planned job ended early: the files of a base are replaced one by one."""
    has_written = job.layer == BASE_LAYER and job.planned_at is not None
    return {"unfinished": job.job} if has_written and indexed.active_job == job.job else {}


def _serving(indexed: Indexed, job: Job, changes: Mapping[str, object]) -> dict[str, object]:
    if indexed.served is not None and indexed.served.version >= job.version:
        return {}
    state = LayerState(
        commit=job.commit,
        ref=job.ref,
        dirty=job.dirty,
        version=job.version,
        job=job.job,
        indexed_at=job.finished_at or datetime.now(UTC),
        basis=job.basis if job.state is JobState.COMPLETE and not job.dirty else "",
        # A file that failed may have no point of its own.
        files=job.files if job.state is JobState.COMPLETE else -1,
    )
    return {**changes, "served": state, "unfinished": ""}
