"""Requests about documents."""

import asyncio

from prism_contracts.records import AnchoredKind, DocumentRecord
from prism_contracts.rpc.anchors import STALE_LISTED_MAX
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.documents import (
    CommitDocumentsReply,
    CommitDocumentsRequest,
    CreateDocumentReply,
    CreateDocumentRequest,
    DocumentDiffReply,
    DocumentDiffRequest,
    DocumentMetadata,
    DocumentMetadataReply,
    DocumentReply,
    DocumentVersionsReply,
    DocumentVersionsRequest,
    GetDocumentMetadataRequest,
    GetDocumentRequest,
    ListDocumentsReply,
    ListDocumentsRequest,
    ProcessingResults,
    UpdateDocumentReply,
    UpdateDocumentRequest,
)
from prism_workspace.core.documents import metadata_of, page
from prism_workspace.operations.anchors import Anchors
from prism_workspace.operations.commits import DraftCommits
from prism_workspace.operations.documents import TeamDocuments
from prism_workspace.operations.projection import IndexProjection
from prism_workspace.operations.pushes import DocumentPushes
from prism_workspace.operations.tags import TagProposals
from prism_workspace.operations.versions import DocumentVersions


class DocumentHandlers:
    """Answers requests about documents."""

    def __init__(
        self,
        documents: TeamDocuments,
        commits: DraftCommits,
        projection: IndexProjection,
        anchors: Anchors,
        *,
        pushes: DocumentPushes,
        tags: TagProposals,
        versions: DocumentVersions,
        settle_s: float,
    ) -> None:
        """`settle_s`: how long a write waits until its document is searchable, in seconds."""
        self._documents = documents
        self._anchors = anchors
        self._commits = commits
        self._pushes = pushes
        self._projection = projection
        self._tags = tags
        self._versions = versions
        self._settle_s = settle_s

    async def get(self, request: GetDocumentRequest) -> DocumentReply:
        """Return a document with its text.

        Raises PrismError: DOCUMENT_NOT_FOUND, VERSION_NOT_FOUND, INVALID_ARGUMENT, INVALID_PATH.
        """
        record = await self._documents.find(request, request.document_id, request.path)
        blob = await self._versions.blob(record, request.version)
        frontmatter, content = await self._documents.parts(record.model_copy(update={"blob": blob}))
        return DocumentReply(
            document_id=record.document,
            path=record.path,
            content=content,
            metadata=self._metadata(request, record) if request.include_metadata else None,
            frontmatter=frontmatter if request.include_metadata else "",
        )

    async def get_metadata(self, request: GetDocumentMetadataRequest) -> DocumentMetadataReply:
        """Return a document without its text. Raises as `get` does."""
        record = await self._documents.find(request, request.document_id, request.path)
        frontmatter, _ = await self._documents.parts(record)
        return DocumentMetadataReply(
            document_id=record.document,
            path=record.path,
            metadata=self._metadata(request, record),
            frontmatter=frontmatter,
        )

    def _metadata(self, caller: CallerRequest, record: DocumentRecord) -> DocumentMetadata:
        stale = self._anchors.stale(caller, AnchoredKind.DOCUMENT, record.document)
        return metadata_of(record).model_copy(update={"stale": stale})

    async def versions(self, request: DocumentVersionsRequest) -> DocumentVersionsReply:
        """List drafts and commits of a document. Raises PrismError: DOCUMENT_NOT_FOUND, INVALID_CURSOR."""
        return await self._versions.listed(request)

    async def diff(self, request: DocumentDiffRequest) -> DocumentDiffReply:
        """Compare two versions of a document. Raises PrismError: DOCUMENT_NOT_FOUND, VERSION_NOT_FOUND."""
        return await self._versions.diff(request)

    async def list(self, request: ListDocumentsRequest) -> ListDocumentsReply:
        """Return a page of the documents that match a filter. Raises PrismError: UNAVAILABLE."""
        found = await self._documents.listed(request, request.filter.tags)
        stale = self._anchors.all_stale(request, AnchoredKind.DOCUMENT)
        if request.filter.stale is not None:
            found = [one for one in found if (one.document in stale) is request.filter.stale]
        reply = page(found, request)
        shown = tuple(
            one.model_copy(update={"stale": stale[one.document_id][:STALE_LISTED_MAX]})
            if one.document_id in stale
            else one
            for one in reply.documents
        )
        return reply.model_copy(update={"documents": shown})

    async def create(self, request: CreateDocumentRequest) -> CreateDocumentReply:
        """Create a draft. Raises PrismError: FORBIDDEN, INVALID_ARGUMENT, PAYLOAD_TOO_LARGE, DOCUMENT_EXISTS."""
        record = await self._documents.create(request)
        tags = await self._suggested(request, record, request.content) if request.auto_process else ()
        is_indexed = await self._settled(record, self._settle_s if request.auto_process else 0)
        return CreateDocumentReply(
            document_id=record.document,
            path=record.path,
            created_at=record.created_at,
            version=record.version,
            auto_processed=request.auto_process,
            processing_results=ProcessingResults(tags_generated=tags, embeddings_created=is_indexed),
        )

    async def _suggested(
        self, caller: CallerRequest, record: DocumentRecord, content: str
    ) -> tuple[str, ...]:
        """Returns tags that the document does not have, for its author to choose from."""
        proposal = await self._tags.propose(caller, record, content)
        return tuple(tag for tag in proposal.tags if tag not in record.tags)

    async def update(self, request: UpdateDocumentRequest) -> UpdateDocumentReply:
        """Update a generated document as a draft.

        Raises PrismError: FORBIDDEN, DOCUMENT_NOT_FOUND, DOCUMENT_READ_ONLY, DOCUMENT_CONFLICT,
        INVALID_ARGUMENT, PAYLOAD_TOO_LARGE.
        """
        record, changes = await self._documents.update(request)
        content = request.updates.content
        is_other_text = request.regenerate_embeddings and "content" in changes and content is not None
        tags = await self._suggested(request, record, content or "") if is_other_text else ()
        is_indexed = await self._settled(record, self._settle_s if request.regenerate_embeddings else 0)
        return UpdateDocumentReply(
            document_id=record.document,
            path=record.path,
            modified_at=record.modified_at,
            version=record.version,
            changes_applied=changes,
            embeddings_regenerated=is_indexed and bool(changes),
            tags_generated=tags,
        )

    async def _settled(self, record: DocumentRecord, wait_s: float) -> bool:
        """Wait until a document is searchable, and linked to the code of its time. Returns whether it is indexed."""
        linking = self._anchors.wait(record.tenant, AnchoredKind.DOCUMENT, record.document, wait_s)
        is_indexed, _ = await asyncio.gather(self._projection.wait(record, wait_s), linking)
        return is_indexed

    async def commit(self, request: CommitDocumentsRequest) -> CommitDocumentsReply:
        """Commit drafts, and push them if that is wanted: a push that fails is part of the reply.

        Raises PrismError: FORBIDDEN, DOCUMENT_NOT_FOUND, NOTHING_TO_COMMIT, INVALID_ARGUMENT, INVALID_PATH,
        REMOTE_NOT_SET, UNAVAILABLE.
        """
        self._documents.require_sight(request)
        if request.auto_push:  # before anything is committed
            await self._pushes.check(request)
        reply = await self._commits.commit(request)
        self._projection.wake()
        return await self._pushes.after_commit(request, reply)
