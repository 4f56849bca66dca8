"""Finds documents on the subject of another one."""

from prism_contracts.records import AnchoredKind, DocumentRecord
from prism_contracts.rpc.documents import (
    DocumentHit,
    RelatedDocument,
    RelatedDocumentsReply,
    RelatedDocumentsRequest,
    SearchDocumentsRequest,
)
from prism_workspace.core.related import Shared, ranked
from prism_workspace.operations.anchors import Anchors
from prism_workspace.operations.document_search import DocumentSearch
from prism_workspace.operations.documents import TeamDocuments

# More than an answer lists, because the shared places change the order.
SIMILAR_READ = 20
# A document whose text is less similar is about something else.
SIMILARITY_MIN = 0.6
TAGS_SHOWN_MAX = 10
PLACES_SHOWN_MAX = 5


class RelatedDocuments:
    """Documents with a similar text, and those that name the same places in code."""

    def __init__(self, documents: TeamDocuments, search: DocumentSearch, anchors: Anchors) -> None:
        self._documents = documents
        self._search = search
        self._anchors = anchors

    async def find(self, request: RelatedDocumentsRequest) -> RelatedDocumentsReply:
        """Returns the closest documents first. Raises DOCUMENT_NOT_FOUND, UNAVAILABLE."""
        record = await self._documents.find(request, request.document_id, "")
        similar = await self._similar(request, record)
        shared = self._anchors.sharing(request, AnchoredKind.DOCUMENT, record.document)
        order = ranked([one.document_id for one in similar], shared)
        scores = {one.document_id: one.similarity_score for one in similar}
        related = [
            _related(record, other, scores.get(document, 0.0), shared.get(document))
            for document in order
            if (other := self._documents.known(request, document))
        ]
        return RelatedDocumentsReply(
            document_id=record.document, path=record.path, related=tuple(related[: request.limit])
        )

    async def _similar(self, request: RelatedDocumentsRequest, record: DocumentRecord) -> list[DocumentHit]:
        words = "\n".join(filter(None, (record.title, record.description, record.summary)))
        wanted = SearchDocumentsRequest(
            tenant=request.tenant,
            visible=request.visible,
            query=words,
            max_results=SIMILAR_READ,
            similarity_threshold=SIMILARITY_MIN,
        )
        found = (await self._search.search(wanted)).results
        return [one for one in found if one.document_id != record.document]


def _related(
    document: DocumentRecord, other: DocumentRecord, score: float, shared: Shared | None
) -> RelatedDocument:
    own = {tag.casefold() for tag in document.tags}
    tags = [tag for tag in other.tags if tag.casefold() in own]
    return RelatedDocument(
        document_id=other.document,
        path=other.path,
        title=other.title,
        score=score,
        shared_places=shared.places[:PLACES_SHOWN_MAX] if shared else (),
        shared_tags=tuple(tags[:TAGS_SHOWN_MAX]),
    )
