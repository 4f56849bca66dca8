from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DocumentRecord, document_id, folded_path
from prism_contracts.types import DOCUMENT_CHARS_MAX
from prism_workspace.core.documents import text_of
from prism_workspace.core.markdown_files import checked_path, read

PATH = "documents/handbook/retries.md"
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
FILE = """---
title: Retries
tags: [delivery, "with  spaces", delivery]
category: operations
sources: https://example.com, https://example.org
date: 2026-03-14
weight: 3
draft: false
nested: {a: [1, 2]}
aliases: [/old, /older]
long: """ + "x" * 2_000 + """
---

# Another heading

Text.
"""  # fmt: skip


def test_front_matter_becomes_metadata() -> None:
    found = read(PATH, FILE)
    assert found.fields["title"] == "Retries"
    assert found.fields["tags"] == ("delivery", "with spaces")
    assert found.fields["sources"] == ("https://example.com", "https://example.org")
    assert found.fields["custom"] == {
        "date": "2026-03-14",
        "weight": 3,
        "draft": False,
        "nested": '{"a": [1, 2]}',
        "aliases": ("/old", "/older"),
    }
    assert found.created_at == datetime(2026, 3, 14, tzinfo=UTC)
    assert found.left_out == ("long",)
    assert found.content == "# Another heading\n\nText.\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Retries #\n\nText.\n", "Retries"),
        ("Text.\n", "retries"),
        ("---\ntitle: 7\n---\nText.\n", "7"),
        ("---\ntitle: [\n---\n# Broken\n", "Broken"),
        ("\ufeff# With a mark\r\n\r\nText.\r\n", "With a mark"),
    ],
)
def test_a_title_is_found_in_the_front_matter_the_text_or_the_name(text: str, title: str) -> None:
    found = read(PATH, text)
    assert found.fields["title"] == title
    assert "\r" not in found.content


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x" * (DOCUMENT_CHARS_MAX + 1), ErrorCode.PAYLOAD_TOO_LARGE),
        ("a\0b", ErrorCode.INVALID_ARGUMENT),
        ("a\ud800b", ErrorCode.INVALID_ARGUMENT),
    ],
)
def test_a_text_that_cannot_be_a_document_is_refused(text: str, code: ErrorCode) -> None:
    with pytest.raises(PrismError) as caught:
        read(PATH, text)
    assert caught.value.code is code


@pytest.mark.parametrize(
    "path",
    [
        "notes/a.md",
        "documents",
        "documents/a.png",
        "documents/../a.md",
        "/documents/a.md",
        "documents/.git/a.md",
        "generated/README.md",
        "documents/a\nb.md",
    ],
)
def test_paths_outside_the_folders_of_documents_are_refused(path: str) -> None:
    with pytest.raises(PrismError) as caught:
        checked_path(path)
    assert caught.value.code is ErrorCode.INVALID_PATH


@pytest.mark.parametrize(
    ("one", "other"),
    [("Straße.md", "STRASSE.md"), ("\u01f0.md", "J\u030c.md"), ("\u1fb3.md", "\u0391\u0345.md")],
)
def test_paths_that_some_file_systems_cannot_tell_apart_count_as_one(one: str, other: str) -> None:
    assert folded_path(one) == folded_path(other)


@given(text=st.text(max_size=300), matter=st.text(max_size=200))
def test_any_text_is_read_and_what_is_written_reads_the_same(text: str, matter: str) -> None:
    try:
        found = read(PATH, f"---\n{matter}\n---\n{text}")
    except PrismError as error:
        assert error.code is ErrorCode.INVALID_ARGUMENT  # noqa: PT017 - a NUL or a surrogate
        return
    record = DocumentRecord(
        tenant="acme",
        document=document_id("acme", PATH),
        path=PATH,
        blob="",
        created_at=NOON,
        modified_at=NOON,
        **found.fields,
    )
    again = read(PATH, text_of(record, found.content))
    assert (again.fields, again.content) == (found.fields, found.content)
