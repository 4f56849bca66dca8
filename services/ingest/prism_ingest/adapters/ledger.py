"""Repositories, jobs and component versions: ingest's records in JetStream."""

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from nats.js import JetStreamContext

from prism_contracts import names
from prism_contracts.base import BASE_LAYER, repo_id
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, shown
from prism_contracts.records import (
    COMPONENT_CHUNKER,
    COMPONENT_FAST_MODEL,
    INSTALLATION,
    UPLOAD,
    Component,
    Indexed,
    Installation,
    Job,
    JobState,
    Layer,
    LayerState,
    Repository,
    layer_key,
    repository_key,
)
from prism_ingest.core import fail_job, is_final
from prism_ingest.core.layers import layer_version
from prism_runtime.records import Records, open_bucket

NAMES_SHOWN_MAX = 20
JOB_KEY_BYTES = 32

Record = TypeVar("Record", bound=Indexed)


# A clone may have to wait for others, and tells of no progress: by default twice PRISM_CLONE_SECONDS_MAX.
CLONING_PATIENCE = 6


class Origin(NamedTuple):
    """Where the files of a repository come from."""

    source: str  # UPLOAD, or a git URL without credentials
    ref: str = ""  # what of the URL is followed, empty for the default branch


class Ledger:
    """What ingest writes down."""

    def __init__(
        self,
        repositories: Records[Repository],
        layers: Records[Layer],
        jobs: Records[Job],
        components: Records[Component],
        job_key: bytes,
    ) -> None:
        self.repositories = repositories
        self.layers = layers
        self.jobs = jobs
        self._components = components
        self.job_key = job_key

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "Ledger":
        """The ledger, its buckets made if they are not there."""
        repositories = await open_bucket(js, names.KV_REPOSITORIES, replicas=replicas)
        layers = await open_bucket(js, names.KV_LAYERS, replicas=replicas)
        jobs = await open_bucket(js, names.KV_JOBS, ttl_s=names.JOBS_MAX_AGE_S, replicas=replicas)
        components = await open_bucket(js, names.KV_COMPONENTS, replicas=replicas)
        return cls(
            Records(repositories, Repository),
            Records(layers, Layer),
            Records(jobs, Job),
            Records(components, Component),
            await _job_key(js, replicas),
        )

    async def versions(self) -> tuple[str, str]:
        """Version of the chunker and fingerprint of the fast model. Raises UNAVAILABLE until both have been said."""
        chunker = await self._components.get(COMPONENT_CHUNKER)
        model = await self._components.get(COMPONENT_FAST_MODEL)
        if chunker is None or model is None:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The chunker or the embedder has not started yet.",
                "Retry in a few seconds.",
            )
        return chunker.version, model.version

    async def repository(self, tenant: str, name: str) -> Repository:
        """A repository by its full name or its id. Raises REPO_NOT_FOUND, naming those that exist."""
        for repo in (repo_id(name), name):
            found = await self.repositories.get(repository_key(tenant, repo))
            if found is not None:
                return found
        known = sorted(one.name for one in await self.repositories.all() if one.tenant == tenant)
        raise PrismError(
            ErrorCode.REPO_NOT_FOUND,
            f"There is no repository {shown(name)}.",
            "Index it first: `prism index PATH_OR_GIT_URL`.",
            repositories=known[:NAMES_SHOWN_MAX],
        )

    async def begin(self, job: Job, origin: Origin, idle_s: float) -> Job:
        """Give the job the next version of what it brings up to date, and make it the active one there.

        A repository that is not known yet is made, a layer is not. Raises SNAPSHOT_CONFLICT while another job of the same
        makes progress, REF_NOT_FOUND. A job that began already is returned as it is.

        The job is written before the record that names it: a record never names a job that is not there. A job that
        died between the two writes has no version, and begins when it is asked for again.
        """
        known = await self.jobs.get(job.job)
        if known is not None and known.version:
            return known
        retired = await self._retire_active(job, idle_s)
        await self.jobs.modify(job.job, lambda found: found or job)
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
        """Make the job the active one; its version, which is the same if it is active already."""
        begun: Indexed
        if job.layer == BASE_LAYER:
            key = repository_key(job.tenant, job.repo)
            begun = await self.repositories.modify(
                key, lambda found: _begun_base(found, job, origin, retired)
            )
        else:
            key = layer_key(job.tenant, job.repo, job.layer)
            begun = await self.layers.modify(key, lambda found: _begun_layer(found, job, origin, retired))
        return begun.next_version - 1

    async def renew_version(self, job: Job) -> Job:
        """The job of a layer with the version of this moment, which is that of all that it will write.

        It may have waited long since it began. The same job if its layer is gone.
        """
        layer = await self._change(
            _of(job), lambda found: {"next_version": layer_version(found.next_version, datetime.now(UTC)) + 1}
        )
        return job if layer is None else job.model_copy(update={"version": layer.next_version - 1})

    async def indexed(self, tenant: str, repo: str, layer: str) -> Repository | Layer | None:
        """The record of the base of a repository, or of another layer of it."""
        if layer == BASE_LAYER:
            return await self.repositories.get(repository_key(tenant, repo))
        return await self.layers.get(layer_key(tenant, repo, layer))

    async def record_remote_head(self, tenant: str, repo: str, layer: str, commit: str, at: datetime) -> None:
        """Note a commit that the remote is said to be at: what is served is behind it until a job brings it."""
        changes = {"head_commit": commit, "head_seen_at": at}
        await self._change(
            (tenant, repo, layer), lambda found: {} if found.head_commit == commit else changes
        )

    async def postpone(self, job: Job) -> bool:
        """Have the remote looked at again when the active job ends; False if there is none, so that the job may begin."""
        indexed = await self._change(_of(job), lambda found: {"is_pushed": bool(found.active_job)})
        return indexed is not None and bool(indexed.active_job)

    async def forget_push(self, job: Job) -> None:
        """Note that what was pushed while the job ran is looked at."""
        await self._change(_of(job), lambda _: {"is_pushed": False})

    async def is_active(self, job: Job) -> bool:
        """Whether the end of the job is still waited for."""
        indexed = await self.indexed(*_of(job))
        return indexed is not None and indexed.active_job == job.job

    async def finish(self, job: Job, changes: Mapping[str, object]) -> Indexed | None:
        """Serve what the job brought, and let the next job begin; None if the layer is gone. `changes` are made with it."""
        return await self._change(
            _of(job), lambda found: _released(found, job.job) | _serving(found, job, changes)
        )

    async def release(self, job: Job) -> Indexed | None:
        """Let the next job begin; what is served stays. None if the layer is gone."""
        return await self._change(_of(job), lambda found: _released(found, job.job) | _unfinished(found, job))

    async def give_up_idle(self, layer: Layer, idle_s: float) -> None:
        """Give the active job of a layer up, if it makes no progress any more, and let the next one begin."""
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

    async def switch(self, layer: Layer, version: int, changes: Mapping[str, object]) -> None:
        """Let a layer serve other files without a job, unless it serves others than when it was looked at, or a job has begun."""

        def changed(found: Indexed) -> Mapping[str, object]:
            if found.served != layer.served or found.next_version != layer.next_version or not found.served:
                return {}
            return {**changes, "served": found.served.model_copy(update={"version": version})}

        await self._change((layer.tenant, layer.repo, layer.layer), changed)

    async def _change(
        self, place: tuple[str, str, str], change: Callable[[Indexed], Mapping[str, object]]
    ) -> Indexed | None:
        """Change the fields of a record. None if there is none: a layer may be deleted at any moment."""

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
        """Give the active job up if it makes no progress any more; its id. Raises SNAPSHOT_CONFLICT if it makes some."""
        indexed = await self.indexed(*_of(job))
        if indexed is None or indexed.active_job in {"", job.job}:
            return ""
        active = await self.jobs.get(indexed.active_job)
        if active is not None and not is_final(active):
            await self.jobs.modify(active.job, lambda found: _given_up(found or active, job, idle_s))
        return indexed.active_job


class _GoneError(Exception):
    """There is no such record."""


def _of(job: Job) -> tuple[str, str, str]:
    return job.tenant, job.repo, job.layer


def _given_up(active: Job, job: Job, idle_s: float) -> Job:
    """The active job, abandoned for another. Raises SNAPSHOT_CONFLICT if it makes progress."""
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
    """Whether a job makes no progress any more."""
    patience = CLONING_PATIENCE if job.state is JobState.CLONING else 1
    return (now - job.updated_at).total_seconds() >= idle_s * patience


async def _job_key(js: JetStreamContext, replicas: int) -> bytes:
    """The secret that job ids are derived with, made by whoever asks first."""
    records = Records(await open_bucket(js, names.KV_INSTALLATION, replicas=replicas), Installation)
    fresh = Installation(job_key=secrets.token_bytes(JOB_KEY_BYTES))
    return (await records.modify(INSTALLATION, lambda found: found or fresh)).job_key


def _begun_base(found: Repository | None, job: Job, origin: Origin, retired: str) -> Repository:
    now = datetime.now(UTC)
    repository = found or Repository(
        tenant=job.tenant,
        repo=repo_id(job.repo_name),
        name=job.repo_name,
        source=origin.source,
        created_at=now,
    )
    # Of a git URL the remote says where it is, not who changes a file on top of it.
    heard = job.commit if origin.source == UPLOAD else ""
    return repository.model_copy(
        update=_begun(repository, job, retired, repository.next_version)
        | {"source": origin.source, "ref": origin.ref}
        | ({"head_commit": heard, "head_seen_at": now} if heard else {})
    )


def _begun_layer(found: Layer | None, job: Job, origin: Origin, retired: str) -> Layer:
    if found is None:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND, f"{job.repo_name} has no layer of {job.ref}.", "Create it again."
        )
    now = datetime.now(UTC)
    version = layer_version(found.next_version, now)
    # What a client sends is not fetched any more; of what is fetched the remote says where it is.
    sent = (
        {"source": UPLOAD, "head_commit": job.commit, "head_seen_at": now} if origin.source == UPLOAD else {}
    )
    return found.model_copy(update=_begun(found, job, retired, version) | sent)


def _begun(indexed: Indexed, job: Job, retired: str, version: int) -> dict[str, object]:
    if indexed.active_job not in {"", job.job, retired}:
        raise _conflict(job, indexed.active_job)  # it began since the last look
    if indexed.active_job == job.job:
        return {}
    return {"next_version": version + 1, "active_job": job.job}


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
    """Marks a base whose planned job ended early: files of a base are replaced one by one."""
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
