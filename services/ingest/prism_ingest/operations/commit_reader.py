"""Reads files of any commit that a mirror holds, as it was fetched: nothing is fetched for it, and nothing indexed."""

import asyncio

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.rpc.imports import (
    CommitFileReply,
    CommitFileRequest,
    CommitFilesReply,
    CommitFilesRequest,
)
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.mirrors import Mirrors, Remote
from prism_ingest.settings import IngestSettings
from prism_source.gittree import commit_file, commit_files
from prism_source.paths import validate_path
from prism_source.secrets import redact
from prism_source.text import decode


class CommitHandlers:
    """Answers `commit_file` and `commit_files`."""

    def __init__(self, ledger: Ledger, mirrors: Mirrors, settings: IngestSettings) -> None:
        self._ledger = ledger
        self._mirrors = mirrors
        self._limits = settings.limits

    async def file(self, request: CommitFileRequest) -> CommitFileReply:
        """The text of a file at a commit, secrets redacted.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_PATH, FILE_NOT_FOUND, FILE_SKIPPED.
        """
        path = validate_path(request.path)
        remote = await self._remote(request.tenant, request.repo)
        async with self._mirrors.held(remote) as git_dir:
            commit, file, data = await asyncio.to_thread(
                commit_file, git_dir, request.commit, path, self._limits
            )
        text = await asyncio.to_thread(lambda: redact(decode(data)[0], self._limits.secrets.rules, path).text)
        return CommitFileReply(commit=commit, blob=file.blob, text=text, size_bytes=file.size_bytes)

    async def files(self, request: CommitFilesRequest) -> CommitFilesReply:
        """The files of a commit. Raises REPO_NOT_FOUND, REF_NOT_FOUND, PAYLOAD_TOO_LARGE."""
        remote = await self._remote(request.tenant, request.repo)
        async with self._mirrors.held(remote) as git_dir:
            commit, files = await asyncio.to_thread(commit_files, git_dir, request.commit, self._limits)
        return CommitFilesReply(commit=commit, files=files)

    async def _remote(self, tenant: str, name: str) -> Remote:
        repository = await self._ledger.repository(tenant, name)
        _check_fetched(repository)
        return Remote(repository.tenant, repository.repo, repository.source)


def _check_fetched(repository: Repository) -> None:
    if not repository.is_fetched:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{repository.name} is uploaded by clients: Prism has the indexed files, and no other commits.",
            "Ask without a ref, or at the ref of a layer.",
        )
