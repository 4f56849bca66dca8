"""Hits of a search joined with the records of their documents, and filtered by them."""

from collections.abc import Callable, Iterable

from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.documents import DateRange, DocumentHit, SearchDocumentsRequest
from prism_contracts.rpc.search import Hit
from prism_workspace.core.documents import has_tags, is_within, metadata_of

SNIPPET_CHARS_MAX = 800


def joined(
    hits: Iterable[Hit], find: Callable[[str], DocumentRecord | None], request: SearchDocumentsRequest
) -> list[DocumentHit]:
    """Returns the best hit of each document that matches the filters, in the order of the hits.

    `find` returns the document at a path. A hit whose document is gone since it was indexed is left out.
    """
    ranked = list(hits)
    lowest = lowest_of(ranked, request)
    best: dict[str, DocumentHit] = {}
    for hit in ranked:
        if hit.file_path in best or hit.score < lowest:
            continue
        record = find(hit.file_path)
        if record is not None and _matches(record, request):
            best[hit.file_path] = _hit(record, hit)
    return list(best.values())


def lowest_of(hits: Iterable[Hit], request: SearchDocumentsRequest) -> float:
    """Returns the lowest score that a hit may have."""
    return request.similarity_threshold * max((hit.score for hit in hits), default=0.0)


def is_filtered(request: SearchDocumentsRequest) -> bool:
    """Whether some of the hits may be left out for what the records say of their documents."""
    ranges = (request.date_range, request.modified_range)
    return bool(request.filter_generated or request.filter_tags or any(one != DateRange() for one in ranges))


def _matches(record: DocumentRecord, request: SearchDocumentsRequest) -> bool:
    return (
        not (request.filter_generated and record.is_generated)
        and has_tags(record, request.filter_tags)
        and is_within(record.created_at, request.date_range)
        and is_within(record.modified_at, request.modified_range)
    )


def _hit(record: DocumentRecord, hit: Hit) -> DocumentHit:
    return DocumentHit(
        document_id=record.document,
        path=record.path,
        title=record.title,
        snippet=hit.content[:SNIPPET_CHARS_MAX],
        start_line=hit.start_line,
        end_line=hit.end_line,
        similarity_score=hit.score,
        metadata=metadata_of(record),
    )
