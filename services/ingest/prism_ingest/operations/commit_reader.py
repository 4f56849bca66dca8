"""Reads files of any commit that a mirror has. Fetches and indexes nothing."""

import asyncio
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.mirrors import Mirrors, MirrorSource
from prism_ingest.core.selection import Selection
from prism_ingest.settings import IngestSettings
from prism_source.gittree import commit_file, commit_files
from prism_source.paths import validate_path
from prism_source.secrets import redact
from prism_source.text import decode


class CommitFile(NamedTuple):
    """A file at a commit."""

    commit: str
    file: SnapshotFile
    text: str  # secrets redacted


class CommitReader:
    """Files at commits."""

    def __init__(self, ledger: Ledger, mirrors: Mirrors, settings: IngestSettings) -> None:
        self._ledger = ledger
        self._mirrors = mirrors
        self._limits = settings.limits

    async def file(self, tenant: str, repo: str, commit: str, path: str) -> CommitFile:
        """Returns a file at a commit.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_PATH, FILE_NOT_FOUND, FILE_SKIPPED.
        """
        validate_path(path)
        remote, selection = await self._remote(tenant, repo)
        if not selection.paths([path]):
            raise PrismError(
                ErrorCode.FILE_NOT_FOUND, f"{path} is not imported.", "List the files of the commit."
            )
        async with self._mirrors.held(remote) as git_dir:
            full, file, data = await asyncio.to_thread(commit_file, git_dir, commit, path, self._limits)
        text = await asyncio.to_thread(lambda: redact(decode(data)[0], self._limits.secrets.rules, path).text)
        return CommitFile(full, file, text)

    async def files(self, tenant: str, repo: str, commit: str) -> tuple[str, tuple[SnapshotFile, ...]]:
        """Returns the commit's full hash and its files.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, PAYLOAD_TOO_LARGE.
        """
        remote, selection = await self._remote(tenant, repo)
        async with self._mirrors.held(remote) as git_dir:
            full, files = await asyncio.to_thread(commit_files, git_dir, commit, self._limits)
        return full, await asyncio.to_thread(selection.files, files)

    async def _remote(self, tenant: str, name: str) -> tuple[MirrorSource, Selection]:
        repository = await self._ledger.repository(tenant, name)
        _check_fetched(repository)
        remote = MirrorSource(repository.tenant, repository.repo, repository.source)
        return remote, Selection.of(repository)


def _check_fetched(repository: Repository) -> None:
    if not repository.is_fetched:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{repository.name} is uploaded by clients: Prism has the indexed files, and no other commits.",
            "Ask without a ref, or at the ref of a layer.",
        )
