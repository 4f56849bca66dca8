"""Requests that move many documents at once: imports and exports."""

from prism_contracts.rpc.documents import (
    ExportDocumentsReply,
    ExportDocumentsRequest,
    ImportDocumentsReply,
    ImportDocumentsRequest,
)
from prism_workspace.operations.folders import DocumentFolders
from prism_workspace.operations.projection import IndexProjection


class FolderHandlers:
    """Answers imports and exports."""

    def __init__(self, folders: DocumentFolders, projection: IndexProjection) -> None:
        self._folders = folders
        self._projection = projection

    async def take(self, request: ImportDocumentsRequest) -> ImportDocumentsReply:
        """Store files as documents. Raises PrismError: FORBIDDEN, UNAVAILABLE."""
        reply = await self._folders.take(request)
        self._projection.wake()
        return reply

    async def give(self, request: ExportDocumentsRequest) -> ExportDocumentsReply:
        """Return documents as files. Raises PrismError: UNAVAILABLE."""
        return await self._folders.give(request)
