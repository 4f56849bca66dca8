"""Files of commits that are not indexed, as ingest's mirrors of fetched repositories have them."""

from typing import TypeVar

from prism_contracts import names
from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.rpc import CommitFileReply, CommitFileRequest, CommitFilesReply, CommitFilesRequest
from prism_runtime.bus import Bus
from prism_runtime.rpc import call

# A mirror that is being fetched is waited for.
TIMEOUT_S = 10.0

Answer = TypeVar("Answer", bound=Message)


class Commits:
    """Asks ingest."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def file(self, repository: Repository, commit: str, path: str) -> CommitFileReply:
        """A file of a commit. Raises REF_NOT_FOUND, INVALID_PATH, FILE_NOT_FOUND, FILE_SKIPPED."""
        request = CommitFileRequest(tenant=repository.tenant, repo=repository.repo, commit=commit, path=path)
        return await self._ask(names.RPC_COMMIT_FILE, repository, request, CommitFileReply)

    async def files(self, repository: Repository, commit: str) -> CommitFilesReply:
        """All files of a commit. Raises REF_NOT_FOUND, PAYLOAD_TOO_LARGE."""
        request = CommitFilesRequest(tenant=repository.tenant, repo=repository.repo, commit=commit)
        return await self._ask(names.RPC_COMMIT_FILES, repository, request, CommitFilesReply)

    async def _ask(
        self,
        subject: str,
        repository: Repository,
        request: CommitFileRequest | CommitFilesRequest,
        answer: type[Answer],
    ) -> Answer:
        try:
            return await call(self._bus, subject, request, answer, timeout_s=TIMEOUT_S)
        except PrismError as error:
            if error.code is not ErrorCode.REF_NOT_FOUND:
                raise
            raise PrismError(
                ErrorCode.REF_NOT_FOUND,
                f"Prism has neither indexed nor fetched a commit {request.commit} of {repository.name}.",
                "create_branch_index fetches a branch, a tag or a commit from the remote.",
            ) from error
