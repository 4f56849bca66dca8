"""Removals of repositories."""

from prism_contracts.rpc.repositories import (
    RemoveRepositoryReply,
    RemoveRepositoryRequest,
)
from prism_ingest.operations.removals import Removals


class RemovalHandlers:
    """Answers `remove_repository`."""

    def __init__(self, removals: Removals) -> None:
        self._removals = removals

    async def remove(self, request: RemoveRepositoryRequest) -> RemoveRepositoryReply:
        """Remove a repository. Raises REPO_NOT_FOUND, RATE_LIMITED."""
        removed = await self._removals.remove(await self._removals.find(request))
        return RemoveRepositoryReply(repo=removed.repository.name, jobs_cancelled=removed.jobs_cancelled)
