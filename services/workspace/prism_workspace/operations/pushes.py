"""Pushes of documents as callers ask for them, and what callers see of the remote."""

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.document_remote import DocumentRemoteReply
from prism_contracts.rpc.documents import CommitDocumentsReply, CommitDocumentsRequest, DocumentConflict
from prism_workspace.operations.documents import TeamDocuments
from prism_workspace.operations.remote_settings import RemoteSettings
from prism_workspace.operations.remote_sync import RemoteSync

CONFLICTS_SHOWN_MAX = 100


class DocumentPushes:
    """Pushes that callers ask for."""

    def __init__(
        self, documents: TeamDocuments, settings: RemoteSettings, sync: RemoteSync, *, wait_s: float
    ) -> None:
        """`wait_s`: how long a call waits for its push, in seconds."""
        self._documents = documents
        self._settings = settings
        self._sync = sync
        self._wait_s = wait_s

    async def check(self, request: CallerRequest) -> None:
        """Raise REMOTE_NOT_SET unless there is a remote to push to."""
        await self._settings.required(request.tenant)

    async def status(self, request: CallerRequest) -> DocumentRemoteReply:
        """Returns the remote, and which documents have a version of it beside them. Raises REMOTE_NOT_SET."""
        status = await self._settings.status(request.tenant)
        return status.model_copy(update={"conflicts": await self._conflicts(request)})

    async def push(self, request: CallerRequest) -> DocumentRemoteReply:
        """Push what is committed. Raises REMOTE_NOT_SET, and why the push failed."""
        failure = await self._sync.push(request.tenant, self._wait_s)
        if failure is not None:
            raise failure
        return await self.status(request)

    async def after_commit(
        self, request: CommitDocumentsRequest, reply: CommitDocumentsReply
    ) -> CommitDocumentsReply:
        """Returns the reply to a commit, after a push if that is wanted.

        A failed push is no error of the commit, which stays and is pushed later: whoever repeated the call would find
        nothing to commit.
        """
        failure = await self._sync.push(request.tenant, self._wait_s) if request.auto_push else None
        try:
            remote = await self._settings.status(request.tenant)
        except PrismError as error:
            if error.code is not ErrorCode.REMOTE_NOT_SET:
                raise
            return reply
        return reply.model_copy(
            update={
                "pushed": not remote.pending_push,
                "pending_push": remote.pending_push,
                "push_error": failure.body if failure else None,
                "conflicts": await self._conflicts(request) if request.auto_push else (),
            }
        )

    async def _conflicts(self, request: CallerRequest) -> tuple[DocumentConflict, ...]:
        found = [one for one in await self._documents.listed(request) if one.conflict]
        return tuple(
            DocumentConflict(document_id=one.document, path=one.path, kept_path=one.conflict)
            for one in sorted(found, key=lambda one: one.path)[:CONFLICTS_SHOWN_MAX]
        )
