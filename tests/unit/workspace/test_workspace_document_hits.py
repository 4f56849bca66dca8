from datetime import UTC, datetime

import pytest

from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.documents import DateRange, SearchDocumentsRequest
from prism_contracts.rpc.search import Hit
from prism_workspace.core.document_hits import SNIPPET_CHARS_MAX, joined

CREATED = datetime(2026, 3, 1, tzinfo=UTC)


def record(path: str, **fields: object) -> DocumentRecord:
    given = {"title": path, "created_at": CREATED, "modified_at": CREATED} | fields
    return DocumentRecord(tenant="acme", document=f"id of {path}", path=path, blob="b", **given)


def hit(path: str, score: float, line: int = 1, content: str = "text") -> Hit:
    return Hit(
        repo="prism/documents", file_path=path, start_line=line, end_line=line, content=content, score=score
    )


def found(hits: list[Hit], *records: DocumentRecord, **wanted: object) -> list[str]:
    request = SearchDocumentsRequest(tenant="acme", query="q", **wanted)
    return [one.path for one in joined(hits, {one.path: one for one in records}.get, request)]


def test_each_document_is_found_once_with_its_best_excerpt() -> None:
    hits = [hit("a.md", 0.9, 5, "best"), hit("b.md", 0.8), hit("a.md", 0.7, 1, "other")]
    request = SearchDocumentsRequest(tenant="acme", query="q")
    first, second = joined(hits, {path: record(path) for path in ("a.md", "b.md")}.get, request)
    assert (first.document_id, first.snippet, first.start_line, first.similarity_score) == (
        "id of a.md",
        "best",
        5,
        0.9,
    )
    assert second.path == "b.md"


def test_a_document_that_is_gone_is_left_out() -> None:
    assert found([hit("gone.md", 0.9), hit("a.md", 0.8)], record("a.md")) == ["a.md"]


def test_the_threshold_is_relative_to_the_best_hit() -> None:
    hits = [hit("a.md", 0.5), hit("b.md", 0.25), hit("c.md", 0.24)]
    records = [record(path) for path in ("a.md", "b.md", "c.md")]
    assert found(hits, *records, similarity_threshold=0.5) == ["a.md", "b.md"]
    assert found(hits, *records, similarity_threshold=0.0) == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        ({}, ["made.md", "captured.md"]),
        ({"filter_generated": True}, ["captured.md"]),
        ({"filter_tags": ("Ops",)}, ["made.md"]),
        ({"filter_tags": ("ops", "none")}, []),
        ({"date_range": DateRange(start=CREATED, end=CREATED)}, ["made.md"]),
        ({"date_range": DateRange(start=datetime(2026, 3, 2, tzinfo=UTC))}, ["captured.md"]),
    ],
)
def test_filters_read_the_records(wanted: dict[str, object], paths: list[str]) -> None:
    later = datetime(2026, 3, 5, tzinfo=UTC)
    made = record("made.md", tags=("ops", "queues"))
    captured = record("captured.md", is_generated=False, created_at=later)
    assert found([hit("made.md", 0.9), hit("captured.md", 0.9)], made, captured, **wanted) == paths


def test_a_snippet_has_a_limit() -> None:
    request = SearchDocumentsRequest(tenant="acme", query="q")
    (one,) = joined([hit("a.md", 1.0, content="x" * 5_000)], {"a.md": record("a.md")}.get, request)
    assert len(one.snippet) == SNIPPET_CHARS_MAX
