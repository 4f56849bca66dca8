"""Repositories, as their owners manage them."""

from prism_contracts.rpc.changes import ChangesReply, ChangesRequest
from prism_contracts.rpc.imports import JobReply
from prism_contracts.rpc.repositories import (
    ClearCacheRequest,
    RegisterRequest,
    ReindexRequest,
    RepositoryReply,
    RepositoryStatusReply,
    RepositoryStatusRequest,
    UpdateRepositoryRequest,
)
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.index_changes import IndexChanges
from prism_ingest.operations.registrations import Registrations
from prism_ingest.operations.repository_status import RepositoryStatus


class RepositoryHandlers:
    """Answers `register`, `update_repository`, `clear_cache`, `repository_status`, `changes` and `reindex`."""

    def __init__(
        self,
        registrations: Registrations,
        status: RepositoryStatus,
        fetch_jobs: FetchJobs,
        changes: IndexChanges,
    ) -> None:
        self._registrations = registrations
        self._changes = changes
        self._status = status
        self._fetch_jobs = fetch_jobs

    async def register(self, request: RegisterRequest) -> RepositoryReply:
        """Register a repository, and import it if requested.

        Raises FORBIDDEN, INVALID_ARGUMENT, CLONE_REFUSED, REPO_EXISTS, SNAPSHOT_CONFLICT.
        """
        repository, created, job = await self._registrations.register(request)
        return RepositoryReply(repository=repository, created=created, job=job)

    async def update(self, request: UpdateRepositoryRequest) -> RepositoryReply:
        """Change settings of a repository, and its name.

        Raises REPO_NOT_FOUND, REPO_EXISTS, FORBIDDEN, INVALID_PATH, INVALID_ARGUMENT.
        """
        return RepositoryReply(repository=await self._registrations.update(request))

    async def clear_cache(self, request: ClearCacheRequest) -> RepositoryReply:
        """Drop the cached answers of a repository. Raises REPO_NOT_FOUND."""
        return RepositoryReply(repository=await self._registrations.clear_cache(request))

    async def status(self, request: RepositoryStatusRequest) -> RepositoryStatusReply:
        """Return the state of a repository. Raises REPO_NOT_FOUND."""
        return await self._status.of(request)

    async def changes(self, request: ChangesRequest) -> ChangesReply:
        """Return which files imports changed. Raises REPO_NOT_FOUND, INVALID_CURSOR, UNAVAILABLE."""
        return await self._changes.list(request)

    async def reindex(self, request: ReindexRequest) -> JobReply:
        """Begin a job that imports a repository again.

        Raises REPO_NOT_FOUND, INVALID_ARGUMENT for uploads, SNAPSHOT_CONFLICT.
        """
        return JobReply(job=await self._fetch_jobs.reindex(request))
