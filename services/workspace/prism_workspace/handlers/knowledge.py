"""Requests that need more than the records of documents: search, embeddings and tags."""

from prism_contracts.records import AnchoredKind
from prism_contracts.rpc.documents import (
    DocumentHit,
    GenerateEmbeddingsReply,
    GenerateEmbeddingsRequest,
    GenerateTagsReply,
    GenerateTagsRequest,
    RelatedDocumentsReply,
    RelatedDocumentsRequest,
    SearchDocumentsReply,
    SearchDocumentsRequest,
)
from prism_contracts.types import DOCUMENT_TAGS_MAX
from prism_workspace.operations.anchors import Anchors
from prism_workspace.operations.document_search import DocumentSearch
from prism_workspace.operations.documents import TeamDocuments
from prism_workspace.operations.embeddings import DocumentEmbeddings
from prism_workspace.operations.related import RelatedDocuments
from prism_workspace.operations.tags import TagProposals


class KnowledgeHandlers:
    """Answers questions about the documents of a tenant."""

    def __init__(
        self,
        documents: TeamDocuments,
        search: DocumentSearch,
        anchors: Anchors,
        *,
        embeddings: DocumentEmbeddings,
        tags: TagProposals,
        related: RelatedDocuments,
    ) -> None:
        self._documents = documents
        self._embeddings = embeddings
        self._tags = tags
        self._anchors = anchors
        self._search = search
        self._related = related

    async def search(self, request: SearchDocumentsRequest) -> SearchDocumentsReply:
        """Return the documents that match a question. Raises PrismError: UNAVAILABLE."""
        reply = await self._search.search(request)
        results = tuple(self._with_stale_places(request, hit) for hit in reply.results)
        return reply.model_copy(update={"results": results})

    def _with_stale_places(self, request: SearchDocumentsRequest, hit: DocumentHit) -> DocumentHit:
        stale = self._anchors.stale(request, AnchoredKind.DOCUMENT, hit.document_id)
        return hit.model_copy(update={"metadata": hit.metadata.model_copy(update={"stale": stale})})

    async def related(self, request: RelatedDocumentsRequest) -> RelatedDocumentsReply:
        """Return the documents that are related to one. Raises PrismError: DOCUMENT_NOT_FOUND, UNAVAILABLE."""
        return await self._related.find(request)

    async def generate_embeddings(self, request: GenerateEmbeddingsRequest) -> GenerateEmbeddingsReply:
        """Say what the index holds of a document. Raises PrismError: DOCUMENT_NOT_FOUND, EMBEDDING_FAILED, UNAVAILABLE."""
        return await self._embeddings.generate(request)

    async def generate_tags(self, request: GenerateTagsRequest) -> GenerateTagsReply:
        """Propose tags, and change nothing. Raises PrismError: DOCUMENT_NOT_FOUND, INVALID_ARGUMENT, UNAVAILABLE."""
        record = await self._documents.find(request, request.document_id, "")
        _, content = await self._documents.parts(record)
        proposal, written = await self._tags.choose(request, record, content, model=request.model)
        existing = record.tags if request.merge_with_existing else ()
        final = dict.fromkeys((*existing, *proposal.tags))
        return GenerateTagsReply(
            document_id=record.document,
            generated_tags=proposal.tags,
            category=record.category or proposal.category,
            confidence=proposal.confidence,
            existing_tags=existing,
            final_tags=tuple(final)[:DOCUMENT_TAGS_MAX],
            model=written.model,
            without_model=written.without_model,
        )
