"""Files of a git repository as documents."""

from datetime import UTC, datetime

import pytest

from prism_contracts.types import DOCUMENT_CHARS_MAX, DOCUMENT_TAGS_MAX, DOCUMENT_TITLE_CHARS_MAX
from prism_workspace.core.document_files import is_document, read_document, text_of_file

AT = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("documents/web/page.md", True),
        ("generated/2026/03/note.MD", True),
        ("generated/note.txt", True),
        ("generated/README.md", False),
        ("README.md", False),
        ("images/a.md", False),
        ("generated/a.png", False),
        ("generated", False),
        ("generated/../a.md", False),
        ("generated/a\n.md", False),
    ],
)
def test_texts_in_the_folders_of_documents_are_documents(path, expected) -> None:
    assert is_document(path) is expected


def test_only_text_that_a_document_may_have_is_taken() -> None:
    assert text_of_file(b"a" * DOCUMENT_CHARS_MAX) is not None
    for body in (b"a" * (DOCUMENT_CHARS_MAX + 1), b"a\0", b"\xff"):
        assert text_of_file(body) is None


def test_front_matter_describes_the_document() -> None:
    text = (
        "---\ntitle: A page\ntags: [web, 7]\ncategory: research\nurl: https://example.com\ncreated: 2026-01-02\n"
        "sources: [https://example.org]\nreviewed: true\nsince: 2025-01-01\n---\n\nTwo words.\n"
    )
    found = read_document("acme", "documents/page.md", text, AT)
    assert (found.title, found.tags, found.category) == ("A page", ("web", "7"), "research")
    assert (found.url, found.sources) == ("https://example.com", ("https://example.org",))
    assert found.custom == {"reviewed": True, "since": "2025-01-01"}
    assert (found.created_at, found.modified_at) == (datetime(2026, 1, 2, tzinfo=UTC), AT)
    assert (found.is_generated, found.word_count, found.summary) == (False, 2, "Two words.")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Text\n\n## A heading ##\n", "A heading"),
        ("No heading.\n", "note"),
        ("---\ntitle: [\n---\n# Heading\n", "Heading"),
        ("---\ntitle: 'a\x07b'\n---\n", "note"),
        (f"---\ntitle: {'a' * 500}\n---\n", "a" * DOCUMENT_TITLE_CHARS_MAX),
    ],
)
def test_a_title_comes_from_the_front_matter_a_heading_or_the_path(text, title) -> None:
    assert read_document("acme", "generated/note.md", text, AT).title == title


def test_values_that_no_document_may_have_are_left_out() -> None:
    tags = ", ".join(f"t{number}" for number in range(DOCUMENT_TAGS_MAX + 5))
    text = f"---\ntags: {tags}\ncategory: [a]\ncreated: soon\nnested: {{a: {{b: 1}}}}\nlong: {'x' * 9_000}\n---\n"
    found = read_document("acme", "generated/note.md", text, AT)
    assert len(found.tags) == DOCUMENT_TAGS_MAX
    assert (found.category, found.custom, found.created_at) == ("", {}, AT)
