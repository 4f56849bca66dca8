"""Reads files of commits that are not indexed, from the mirrors of ingest."""

from typing import TypeVar

from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.registry import Rpc
from prism_contracts.rpc.imports import (
    COMMIT_FILE,
    COMMIT_FILES,
    CommitFileReply,
    CommitFileRequest,
    CommitFilesReply,
    CommitFilesRequest,
)
from prism_runtime.bus import Bus

# Includes the wait for a mirror that is being fetched.
TIMEOUT_S = 10.0

Request = TypeVar("Request", CommitFileRequest, CommitFilesRequest)
Answer = TypeVar("Answer", bound=Message)


class Commits:
    """Requests to ingest."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def file(self, repository: Repository, commit: str, path: str) -> CommitFileReply:
        """Returns a file of a commit. Raises REF_NOT_FOUND, INVALID_PATH, FILE_NOT_FOUND, FILE_SKIPPED."""
        request = CommitFileRequest(tenant=repository.tenant, repo=repository.repo, commit=commit, path=path)
        return await self._ask(COMMIT_FILE, request, repository.name)

    async def files(self, repository: Repository, commit: str) -> CommitFilesReply:
        """Returns all files of a commit. Raises REF_NOT_FOUND, PAYLOAD_TOO_LARGE."""
        request = CommitFilesRequest(tenant=repository.tenant, repo=repository.repo, commit=commit)
        return await self._ask(COMMIT_FILES, request, repository.name)

    async def _ask(self, rpc: Rpc[Request, Answer], request: Request, repo_name: str) -> Answer:
        try:
            return await self._bus.ask(rpc, request, timeout_s=TIMEOUT_S)
        except PrismError as error:
            if error.code is not ErrorCode.REF_NOT_FOUND:
                raise
            raise PrismError(
                ErrorCode.REF_NOT_FOUND,
                f"Commit {request.commit} of {repo_name} is neither indexed nor fetched.",
                "create_branch_index fetches a branch, a tag or a commit from the remote.",
            ) from error
