"""Files of any commit that a mirror has."""

from prism_contracts.rpc.imports import (
    CommitFileReply,
    CommitFileRequest,
    CommitFilesReply,
    CommitFilesRequest,
)
from prism_ingest.operations.commit_reader import CommitReader


class CommitHandlers:
    """Answers `commit_file` and `commit_files`."""

    def __init__(self, reader: CommitReader) -> None:
        self._reader = reader

    async def file(self, request: CommitFileRequest) -> CommitFileReply:
        """Return the text of a file at a commit, secrets redacted.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_PATH, FILE_NOT_FOUND, FILE_SKIPPED.
        """
        found = await self._reader.file(request.tenant, request.repo, request.commit, request.path)
        return CommitFileReply(
            commit=found.commit, blob=found.file.blob, text=found.text, size_bytes=found.file.size_bytes
        )

    async def files(self, request: CommitFilesRequest) -> CommitFilesReply:
        """Return the files of a commit. Raises REPO_NOT_FOUND, REF_NOT_FOUND, PAYLOAD_TOO_LARGE."""
        commit, files = await self._reader.files(request.tenant, request.repo, request.commit)
        return CommitFilesReply(commit=commit, files=files)
