"""Repositories, as their owners manage them."""

from prism_contracts.rpc.imports import JobReply
from prism_contracts.rpc.repositories import (
    ReindexRequest,
    RepositoryStatusReply,
    RepositoryStatusRequest,
)
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.repository_status import RepositoryStatus


class RepositoryHandlers:
    """Answers `repository_status` and `reindex`."""

    def __init__(self, status: RepositoryStatus, fetch_jobs: FetchJobs) -> None:
        self._status = status
        self._fetch_jobs = fetch_jobs

    async def status(self, request: RepositoryStatusRequest) -> RepositoryStatusReply:
        """Return the state of a repository. Raises REPO_NOT_FOUND."""
        return await self._status.of(request)

    async def reindex(self, request: ReindexRequest) -> JobReply:
        """Begin a job that imports a repository again.

        Raises REPO_NOT_FOUND, INVALID_ARGUMENT for uploads, SNAPSHOT_CONFLICT.
        """
        return JobReply(job=await self._fetch_jobs.reindex(request))
