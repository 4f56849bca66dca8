"""Repositories, jobs and component versions: ingest's records in JetStream."""

from datetime import UTC, datetime
from typing import NamedTuple

from nats.js import JetStreamContext

from prism_contracts import names
from prism_contracts.base import repo_id
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.records import (
    COMPONENT_CHUNKER,
    COMPONENT_FAST_MODEL,
    UPLOAD,
    Component,
    Job,
    JobState,
    LayerState,
    Repository,
    repository_key,
)
from prism_ingest.core import fail_job, is_final
from prism_runtime.records import Records, open_bucket


class Origin(NamedTuple):
    """Where the files of a repository come from."""

    source: str  # UPLOAD, or a git URL without credentials
    ref: str = ""  # what of the URL is followed, empty for the default branch


class Ledger:
    """What ingest writes down."""

    def __init__(
        self, repositories: Records[Repository], jobs: Records[Job], components: Records[Component]
    ) -> None:
        self.repositories = repositories
        self.jobs = jobs
        self._components = components

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "Ledger":
        """The ledger, its buckets made if they are not there."""
        repositories = await open_bucket(js, names.KV_REPOSITORIES, replicas=replicas)
        jobs = await open_bucket(js, names.KV_JOBS, ttl_s=names.JOBS_MAX_AGE_S, replicas=replicas)
        components = await open_bucket(js, names.KV_COMPONENTS, replicas=replicas)
        return cls(Records(repositories, Repository), Records(jobs, Job), Records(components, Component))

    async def versions(self) -> tuple[str, str]:
        """Version of the chunker and fingerprint of the fast model. Raises UNAVAILABLE until both have been said."""
        chunker = await self._components.get(COMPONENT_CHUNKER)
        model = await self._components.get(COMPONENT_FAST_MODEL)
        if chunker is None or model is None:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The chunker or the embedder has not started yet.",
                "Try again in a few seconds.",
            )
        return chunker.version, model.version

    async def begin(self, job: Job, origin: Origin, idle_s: float) -> Job:
        """Give the job the repository's next version and make it the active one.

        Raises SNAPSHOT_CONFLICT while another job of the repository makes progress. A job that began already is
        returned as it is.
        """
        known = await self.jobs.get(job.job)
        if known is not None and known.version:
            return known
        retired = await self._retire_active(job, idle_s)
        repository = await self.repositories.modify(
            repository_key(job.tenant, job.repo), lambda found: _next_version(found, job, origin, retired)
        )
        begun = job.model_copy(update={"version": repository.next_version - 1})
        await self.jobs.put(job.job, begun)
        return begun

    async def hear_of(self, tenant: str, repo: str, commit: str, at: datetime) -> None:
        """Note a commit that the remote is said to be at: what is served is behind it until a job brings it."""
        await self.repositories.modify(
            repository_key(tenant, repo), lambda found: _with_head(_known(found, repo), commit, at)
        )

    async def postpone(self, job: Job) -> bool:
        """Have the remote looked at again when the active job ends; False if there is none, so that the job may begin."""
        repository = await self.repositories.modify(
            repository_key(job.tenant, job.repo), lambda found: _postponed(_known(found, job.repo_name))
        )
        return bool(repository.active_job)

    async def forget_push(self, job: Job) -> None:
        """Note that what was pushed while the job ran is looked at."""
        await self.repositories.modify(
            repository_key(job.tenant, job.repo),
            lambda found: _known(found, job.repo_name).model_copy(update={"is_pushed": False}),
        )

    async def is_active(self, job: Job) -> bool:
        """Whether the repository still waits for the end of the job."""
        repository = await self.repositories.get(repository_key(job.tenant, job.repo))
        return repository is not None and repository.active_job == job.job

    async def finish(self, job: Job) -> Repository:
        """Let the repository serve what the job brought, and let the next job begin."""
        return await self.repositories.modify(
            repository_key(job.tenant, job.repo), lambda found: _finished(found, job)
        )

    async def release(self, job: Job) -> Repository:
        """Let the next job begin; what is served stays."""
        return await self.repositories.modify(
            repository_key(job.tenant, job.repo), lambda found: _released(found, job)
        )

    async def _retire_active(self, job: Job, idle_s: float) -> str:
        """Give the active job up if it makes no progress any more; its id. Raises SNAPSHOT_CONFLICT if it makes some."""
        repository = await self.repositories.get(repository_key(job.tenant, job.repo))
        if repository is None or repository.active_job in {"", job.job}:
            return ""
        active = await self.jobs.get(repository.active_job)
        if active is not None and not is_final(active):
            await self.jobs.modify(active.job, lambda found: _given_up(found or active, job, idle_s))
        return repository.active_job


def _given_up(active: Job, job: Job, idle_s: float) -> Job:
    """The active job, abandoned for another. Raises SNAPSHOT_CONFLICT if it makes progress."""
    now = datetime.now(UTC)
    if not is_final(active) and (now - active.updated_at).total_seconds() < idle_s:
        raise _conflict(job, active.job)
    error = ErrorBody(
        code=ErrorCode.JOB_ABANDONED,
        message=f"No progress for {idle_s:.0f} s when job {job.job} came.",
        next_action="See that job.",
    )
    return fail_job(active, error, now, JobState.ABANDONED)


def _next_version(found: Repository | None, job: Job, origin: Origin, retired: str) -> Repository:
    now = datetime.now(UTC)
    repository = found or Repository(
        tenant=job.tenant,
        repo=repo_id(job.repo_name),
        name=job.repo_name,
        source=origin.source,
        created_at=now,
    )
    if repository.active_job not in {"", job.job, retired}:
        raise _conflict(job, repository.active_job)  # it began since the last look
    # Of a git URL the remote says where it is, not who changes a file on top of it.
    heard = job.commit if origin.source == UPLOAD else ""
    return repository.model_copy(
        update={
            "next_version": repository.next_version + 1,
            "active_job": job.job,
            "source": origin.source,
            "ref": origin.ref,
            "head_commit": heard or repository.head_commit,
            "head_seen_at": now if heard else repository.head_seen_at,
        }
    )


def _conflict(job: Job, active: str) -> PrismError:
    return PrismError(
        ErrorCode.SNAPSHOT_CONFLICT,
        f"{job.repo_name} is being indexed by job {active}.",
        "Wait for that job, then send the snapshot again.",
        job=active,
    )


def _finished(found: Repository | None, job: Job) -> Repository:
    repository = _released(found, job)
    served = repository.served
    if served is not None and served.version >= job.version:
        return repository
    state = LayerState(
        commit=job.commit,
        ref=job.ref,
        dirty=job.dirty,
        version=job.version,
        job=job.job,
        indexed_at=job.finished_at or datetime.now(UTC),
        basis=job.basis if job.state is JobState.COMPLETE and not job.dirty else "",
    )
    return repository.model_copy(update={"served": state})


def _with_head(repository: Repository, commit: str, at: datetime) -> Repository:
    if repository.head_commit == commit:
        return repository
    return repository.model_copy(update={"head_commit": commit, "head_seen_at": at})


def _postponed(repository: Repository) -> Repository:
    return repository.model_copy(update={"is_pushed": bool(repository.active_job)})


def _released(found: Repository | None, job: Job) -> Repository:
    repository = _known(found, job.repo_name)
    return (
        repository.model_copy(update={"active_job": ""}) if repository.active_job == job.job else repository
    )


def _known(found: Repository | None, name: str) -> Repository:
    if found is None:
        raise PrismError(ErrorCode.REPO_NOT_FOUND, f"{name} is gone.")
    return found
