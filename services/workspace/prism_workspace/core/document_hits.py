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
    best: dict[str, DocumentHit] = {}
    for hit in hits:
        record = None if hit.file_path in best else find(hit.file_path)
        if record is not None and passes(record, request):
            best[hit.file_path] = _hit(record, hit)
    lowest = lowest_of(best.values(), request)
    return [one for one in best.values() if one.similarity_score >= lowest]


def lowest_of(found: Iterable[DocumentHit], request: SearchDocumentsRequest) -> float:
    """Returns the lowest score that passes beside these, which pass the filters; 0 if there are none."""
    return request.similarity_threshold * max((one.similarity_score for one in found), default=0.0)


def is_filtered(request: SearchDocumentsRequest) -> bool:
    """Whether some of the hits may be left out for what the records say of their documents."""
    ranges = (request.date_range, request.modified_range)
    return bool(request.filter_generated or request.filter_tags or any(one != DateRange() for one in ranges))


def passes(record: DocumentRecord, request: SearchDocumentsRequest) -> bool:
    """Whether a document passes the filters of a search."""
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
