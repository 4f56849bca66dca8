"""Requests about the remote of the documents."""

from prism_contracts.rpc.document_remote import (
    DocumentBundleReply,
    DocumentBundleRequest,
    DocumentRemoteReply,
    DocumentsAnnouncedRequest,
    GetDocumentRemoteRequest,
    PushDocumentsRequest,
    RemoveDocumentRemoteRequest,
    SetDocumentRemoteRequest,
)
from prism_workspace.operations.bundles import DocumentBundles
from prism_workspace.operations.documents import TeamDocuments
from prism_workspace.operations.pushes import DocumentPushes
from prism_workspace.operations.remote_settings import RemoteSettings


class RemoteHandlers:
    """Answers requests about the remote of the documents. Each raises FORBIDDEN without sight of them."""

    def __init__(
        self,
        documents: TeamDocuments,
        settings: RemoteSettings,
        pushes: DocumentPushes,
        bundles: DocumentBundles,
    ) -> None:
        self._documents = documents
        self._settings = settings
        self._pushes = pushes
        self._bundles = bundles

    async def get(self, request: GetDocumentRemoteRequest) -> DocumentRemoteReply:
        """Return the remote. Raises PrismError: FORBIDDEN, REMOTE_NOT_SET."""
        self._documents.require_sight(request)
        return await self._pushes.status(request)

    async def set(self, request: SetDocumentRemoteRequest) -> DocumentRemoteReply:
        """Set the remote. Raises PrismError: FORBIDDEN, CLONE_REFUSED, INVALID_ARGUMENT."""
        self._documents.require_sight(request)
        return await self._settings.set(request)

    async def push(self, request: PushDocumentsRequest) -> DocumentRemoteReply:
        """Fetch and push now.

        Raises PrismError: FORBIDDEN, REMOTE_NOT_SET, REMOTE_REFUSED, GIT_ERROR, PAYLOAD_TOO_LARGE, DISK_FULL,
        UNAVAILABLE.
        """
        self._documents.require_sight(request)
        return await self._pushes.push(request)

    async def announce(self, request: DocumentsAnnouncedRequest) -> DocumentRemoteReply:
        """Fetch at once, because somebody pushed. Raises PrismError: REMOTE_NOT_SET."""
        return await self._settings.announce(request.tenant)

    async def remove(self, request: RemoveDocumentRemoteRequest) -> DocumentRemoteReply:
        """Forget the remote. Raises PrismError: FORBIDDEN, REMOTE_NOT_SET."""
        self._documents.require_sight(request)
        return await self._settings.remove(request.tenant)

    async def bundle(self, request: DocumentBundleRequest) -> DocumentBundleReply:
        """Return what is committed as a git bundle.

        Raises PrismError: FORBIDDEN, DOCUMENT_NOT_FOUND, PAYLOAD_TOO_LARGE, DISK_FULL, UNAVAILABLE.
        """
        self._documents.require_sight(request)
        return await self._bundles.bundle(request.tenant)
