"""A document as its record, its file, and what callers see of it."""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from operator import attrgetter

from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.documents import (
    DateRange,
    DocumentFilter,
    DocumentMetadata,
    DocumentOrder,
    DocumentSummary,
    DocumentUpdates,
    ListDocumentsReply,
    ListDocumentsRequest,
    NewDocumentMetadata,
    SortOrder,
)
from prism_workspace.core import front_matter

SUMMARY_CHARS_MAX = 200
_WORD = re.compile(r"\w+")
_BLANKS = re.compile(r"\s+")
# Marks at the beginning of a line: headings, quotes, items.
_MARKS = re.compile(r"^[#>*+-]+[ \t]+", re.MULTILINE)


def text_of(record: DocumentRecord, content: str) -> str:
    """Returns the file of a document: its metadata as front matter, and its content."""
    fields: dict[str, object] = {
        "title": record.title,
        "document_id": record.document,
        "created": record.created_at.isoformat(timespec="seconds"),
        "category": record.category,
        "tags": record.tags,
        "url": record.url,
        "description": record.description,
        "sources": record.sources,
    }
    others = {name: value for name, value in record.custom.items() if name not in fields}
    return front_matter.write(fields | others, content)


def updated(
    record: DocumentRecord, content: str, updates: DocumentUpdates
) -> tuple[DocumentRecord, str, tuple[str, ...]]:
    """Returns the record and the content with updates, and the names of the fields that have other values."""
    metadata = updates.metadata or NewDocumentMetadata()
    custom = record.custom | (metadata.custom or {})
    wanted: dict[str, object] = {
        "title": updates.title,
        "tags": updates.tags,
        "category": updates.category,
        "description": metadata.description,
        "sources": metadata.sources,
        "custom": {name: value for name, value in custom.items() if value is not None},
    }
    changes = {
        name: value for name, value in wanted.items() if value is not None and value != getattr(record, name)
    }
    new_content = content if updates.content is None else updates.content
    names = (("content",) if new_content != content else ()) + tuple(changes)
    return record.model_copy(update=changes), new_content, names


def described(record: DocumentRecord, content: str) -> DocumentRecord:
    """Returns the record with what is derived from the content."""
    words = len(_WORD.findall(content))
    return record.model_copy(update={"word_count": words, "summary": summary(content)})


def summary(content: str) -> str:
    """Returns the beginning of the text on one line, without marks of Markdown at the start of lines."""
    return _BLANKS.sub(" ", _MARKS.sub("", content[: 10 * SUMMARY_CHARS_MAX])).strip()[:SUMMARY_CHARS_MAX]


def metadata_of(record: DocumentRecord) -> DocumentMetadata:
    """Returns what callers see of a document besides its text."""
    return DocumentMetadata(
        title=record.title,
        url=record.url,
        tags=record.tags,
        category=record.category,
        description=record.description,
        sources=record.sources,
        custom=record.custom,
        created_at=record.created_at,
        modified_at=record.modified_at,
        is_generated=record.is_generated,
        word_count=record.word_count,
        version=record.version,
        is_draft=record.is_draft,
        commit=record.commit,
        is_indexed=record.is_indexed,
        conflict=record.conflict,
    )


def page(records: Iterable[DocumentRecord], request: ListDocumentsRequest) -> ListDocumentsReply:
    """Returns the page of the documents that match a request. Documents that are equal in order go by path."""
    found = matching(records, request.filter)
    shown = _first(found, request.offset + request.limit, request)[request.offset :]
    return ListDocumentsReply(
        documents=tuple(map(summary_of, shown)),
        total=len(found),
        limit=request.limit,
        offset=request.offset,
    )


def matching(records: Iterable[DocumentRecord], wanted: DocumentFilter) -> list[DocumentRecord]:
    """Returns the documents that match every field of a filter that is set, in their order."""
    found = list(records)
    for check in _checks(wanted):
        found = list(filter(check, found))
    return found


def _checks(wanted: DocumentFilter) -> Iterator[Callable[[DocumentRecord], bool]]:
    """Returns one check for each field that is set: thousands of documents are looked at for one page."""
    if wanted.is_generated is not None:
        yield lambda one: one.is_generated == wanted.is_generated
    if wanted.category:
        yield lambda one: one.category.casefold() == wanted.category.casefold()
    if wanted.search_title:
        yield lambda one: wanted.search_title.casefold() in one.title.casefold()
    if wanted.tags:
        yield lambda one: has_tags(one, wanted.tags)
    if wanted.date_range != DateRange():
        yield lambda one: is_within(one.created_at, wanted.date_range)
    if wanted.modified_range != DateRange():
        yield lambda one: is_within(one.modified_at, wanted.modified_range)


def has_tags(record: DocumentRecord, wanted: Iterable[str]) -> bool:
    """Whether a document has all of these tags, in any case."""
    tags = {tag.casefold() for tag in record.tags}
    return all(tag.casefold() in tags for tag in wanted)


def is_within(at: datetime, wanted: DateRange) -> bool:
    """Whether a time is in a range, both ends included."""
    return (wanted.start is None or _aware(wanted.start) <= at) and (
        wanted.end is None or at <= _aware(wanted.end)
    )


def summary_of(record: DocumentRecord) -> DocumentSummary:
    """Returns a document as a list shows it."""
    return DocumentSummary(
        document_id=record.document,
        path=record.path,
        title=record.title,
        summary=record.summary,
        tags=record.tags,
        category=record.category,
        created_at=record.created_at,
        modified_at=record.modified_at,
        is_generated=record.is_generated,
        word_count=record.word_count,
        is_draft=record.is_draft,
    )


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _first(found: list[DocumentRecord], count: int, request: ListDocumentsRequest) -> list[DocumentRecord]:
    """Returns the first documents in the order of a request. Of thousands, only about these are sorted."""
    is_descending = request.sort_order is SortOrder.DESC
    if request.sort_by is DocumentOrder.TITLE:
        by_path = sorted(found, key=attrgetter("path"))
        return sorted(by_path, key=lambda one: one.title.casefold(), reverse=is_descending)[:count]
    at = attrgetter(request.sort_by.value)
    if count < len(found):
        first = heapq.nlargest if is_descending else heapq.nsmallest
        last = first(count, map(at, found))[-1]
        found = [one for one in found if (at(one) >= last if is_descending else at(one) <= last)]
    return sorted(sorted(found, key=attrgetter("path")), key=at, reverse=is_descending)[:count]
