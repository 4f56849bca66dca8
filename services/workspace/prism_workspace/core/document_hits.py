"""Hits of a search joined with the records of their documents, and filtered by them."""

from collections.abc import Callable, Iterable

from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.documents import DocumentFilter, DocumentHit, SearchDocumentsRequest
from prism_contracts.rpc.search import Hit
from prism_workspace.core.documents import matching, metadata_of

SNIPPET_CHARS_MAX = 800


def joined(
    hits: Iterable[Hit], find: Callable[[str], DocumentRecord | None], request: SearchDocumentsRequest
) -> list[DocumentHit]:
    """Returns the best hit of each document that matches the filters, in the order of the hits.

    `find` returns the document at a path. A hit whose document is gone since it was indexed is left out.
    """
    first: dict[str, tuple[DocumentRecord, Hit]] = {}
    for hit in hits:
        record = None if hit.file_path in first else find(hit.file_path)
        if record is not None:
            first[hit.file_path] = (record, hit)
    hit_of = {record.document: hit for record, hit in first.values()}
    passing = matching((record for record, _ in first.values()), filter_of(request))
    best = [_hit(record, hit_of[record.document]) for record in passing]
    lowest = lowest_of(best, request)
    return [one for one in best if one.similarity_score >= lowest]


def lowest_of(found: Iterable[DocumentHit], request: SearchDocumentsRequest) -> float:
    """Returns the lowest score that passes beside these, which pass the filters; 0 if there are none."""
    return request.similarity_threshold * max((one.similarity_score for one in found), default=0.0)


def filter_of(request: SearchDocumentsRequest) -> DocumentFilter:
    """Returns the filters of a search as those of a list."""
    return DocumentFilter(
        tags=request.filter_tags,
        is_generated=False if request.filter_generated else None,
        date_range=request.date_range,
        modified_range=request.modified_range,
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
