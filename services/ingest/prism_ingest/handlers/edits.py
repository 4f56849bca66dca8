"""Edits of single files."""

from prism_contracts.rpc.imports import EditRequest, JobReply
from prism_ingest.core import without_bits
from prism_ingest.operations.edits import Edits


class EditHandlers:
    """Answers `edit`."""

    def __init__(self, edits: Edits) -> None:
        self._edits = edits

    async def edit(self, request: EditRequest) -> JobReply:
        """Begin a job for some files of a repository. Replies when their events are stored.

        Raises PrismError: REPO_NOT_FOUND, REF_NOT_FOUND, BASE_MISMATCH, INVALID_PATH, INVALID_ARGUMENT,
        DIFF_NOT_APPLICABLE, SNAPSHOT_CONFLICT.
        """
        return JobReply(job=without_bits(await self._edits.apply(request)))
