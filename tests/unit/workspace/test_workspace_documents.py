from datetime import UTC, datetime

import pytest

from prism_contracts.records import DocumentRecord, document_id
from prism_contracts.rpc.documents import DateRange, DocumentFilter, ListDocumentsRequest
from prism_source.paths import validate_path
from prism_workspace.core import documents
from prism_workspace.core.paths import generated_path, slug

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def record(path: str, **fields: object) -> DocumentRecord:
    usual = {"blob": "b", "title": path, "created_at": NOON, "modified_at": NOON}
    return DocumentRecord(tenant="acme", document=document_id("acme", path), path=path, **usual | fields)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Retries of deliveries", "retries-of-deliveries"),
        ("../../etc/passwd", "etc-passwd"),
        ("  ", "document"),
        ("Überblick: 設計", "überblick-設計"),
        ("a" * 100, "a" * 60),
    ],
)
def test_a_title_becomes_part_of_a_valid_path(title: str, expected: str) -> None:
    assert slug(title) == expected
    assert validate_path(generated_path(title, NOON)) == f"generated/2026/03/2026-03-14-{expected}.md"
    assert generated_path(title, NOON, 2).endswith(f"{expected}-2.md")


def test_paths_that_differ_in_case_or_composition_have_one_id() -> None:
    assert document_id("acme", "generated/É.md") == document_id("acme", "generated/e\u0301.md")
    assert document_id("acme", "a.md") == document_id("acme", "A.md")
    assert document_id("acme", "a.md") != document_id("other", "a.md")


def test_a_document_is_a_draft_until_its_content_is_committed() -> None:
    draft = record("a.md", blob="2", committed_blob="1", commit="c")
    committed = draft.model_copy(update={"committed_blob": "2"})
    assert (draft.is_draft, committed.is_draft) == (True, False)


def test_an_indexed_document_stays_indexed_when_it_is_committed() -> None:
    draft = record("a.md", blob="2", indexed_blob="2")
    assert draft.is_indexed
    assert draft.model_copy(update={"committed_blob": "2", "commit": "c"}).is_indexed
    assert not record("a.md", blob="2", indexed_blob="1").is_indexed


def test_the_summary_is_the_beginning_of_the_text() -> None:
    assert documents.summary("# Retries\n\n> A delivery is\ntried.\n") == "Retries A delivery is tried."
    assert len(documents.summary("word " * 1000)) <= 200


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (DocumentFilter(), ["a", "b", "c"]),
        (DocumentFilter(tags=("X",)), ["a", "b"]),
        (DocumentFilter(tags=("x", "y")), ["b"]),
        (DocumentFilter(category="Design"), ["c"]),
        (DocumentFilter(is_generated=False), ["b"]),
        (DocumentFilter(search_title="RETRY"), ["c"]),
        (DocumentFilter(date_range=DateRange(start="2026-03-14T12:00:00")), ["a", "b"]),
        (DocumentFilter(date_range=DateRange(end="2026-03-14T12:00:00Z")), ["a", "b", "c"]),
        (DocumentFilter(date_range=DateRange(end="2026-03-13")), ["c"]),
    ],
)
def test_a_list_has_the_documents_that_match_the_whole_filter(
    wanted: DocumentFilter, found: list[str]
) -> None:
    known = [
        record("a", tags=("x",)),
        record("b", tags=("x", "y"), is_generated=False),
        record("c", category="design", title="A retry", created_at=datetime(2026, 3, 12, tzinfo=UTC)),
    ]
    reply = documents.page(known, ListDocumentsRequest(tenant="acme", filter=wanted))
    assert sorted(one.path for one in reply.documents) == found
    assert reply.total == len(found)


def test_pages_follow_each_other_in_one_order() -> None:
    known = [record(f"{number:02}", title="same") for number in range(10)]
    pages = [
        documents.page(known, ListDocumentsRequest(tenant="acme", sort_by=by, limit=4, offset=offset))
        for by in ("created_at", "modified_at", "title")
        for offset in (0, 4, 8)
    ]
    paths = [one.path for reply in pages for one in reply.documents]
    assert paths == 3 * [one.path for one in known]
    assert {reply.total for reply in pages} == {10}


def test_the_front_matter_names_the_document() -> None:
    text = documents.text_of(
        record("a.md", title="A: b", tags=("x",), custom={"status": "done", "title": "other"}), "Body\n"
    )
    assert text.startswith("---\ntitle: 'A: b'\ndocument_id: ")
    assert "status: done\n" in text
    assert "other" not in text
