"""Folders of Markdown as documents, and documents as files, on a real NATS server."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from workspace_stack import TENANT, Desk, desk

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.documents import (
    EXPORT_DOCUMENTS,
    IMPORT_DOCUMENTS,
    DocumentFile,
    ExportDocumentsRequest,
    FileOutcome,
    ImportDocumentsRequest,
    ImportedFile,
)
from prism_contracts.types import DOCUMENT_CHARS_MAX

CREATED, UPDATED, UNCHANGED, REFUSED = FileOutcome
HANDBOOK = {
    "documents/handbook/retries.md": "---\ntags: [delivery]\n---\n# Retries\n\nThree times.\n",
    "documents/handbook/deep/er/colors.md": "Blue.\r\n",
    "generated/notes.md": "# Notes\n",
}


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Desk]:
    async with desk(nats_server.url, copies=2) as made:
        yield made


async def taken(place: Desk, files: dict[str, str], **fields: object) -> tuple[ImportedFile, ...]:
    wanted = tuple(DocumentFile(path=path, text=text) for path, text in files.items())
    request = ImportDocumentsRequest(**({"tenant": TENANT, "files": wanted} | fields))
    return (await place.ask(IMPORT_DOCUMENTS, request)).files


async def outcomes(place: Desk, files: dict[str, str], **fields: object) -> list[FileOutcome]:
    return [one.outcome for one in await taken(place, files, **fields)]


async def given(place: Desk, **fields: object) -> dict[str, str]:
    files, cursor = {}, ""
    while True:
        request = ExportDocumentsRequest(**({"tenant": TENANT, "cursor": cursor} | fields))
        page = await place.ask(EXPORT_DOCUMENTS, request)
        files |= {one.path: one.text for one in page.files}
        cursor = page.next_cursor
        if not cursor:
            return files


async def test_a_folder_is_imported_and_a_second_run_changes_nothing(place: Desk) -> None:
    made = await taken(place, HANDBOOK, author="ann")
    assert [one.outcome for one in made] == [CREATED] * 3
    retries, colors, notes = [await place.get(one.document_id) for one in made]
    assert (retries.metadata.title, retries.metadata.tags) == ("Retries", ("delivery",))
    assert (colors.metadata.title, colors.content) == ("colors", "Blue.\n")
    assert [one.metadata.is_generated for one in (retries, colors, notes)] == [False, False, True]
    assert all(one.metadata.is_draft for one in (retries, colors, notes))
    assert await outcomes(place, HANDBOOK) == [UNCHANGED] * 3
    assert (await place.get(made[0].document_id)).metadata == retries.metadata
    changed = HANDBOOK | {"documents/handbook/retries.md": "# Retries\n\nFour times.\n"}
    assert await outcomes(place, changed) == [UPDATED, UNCHANGED, UNCHANGED]
    assert (await place.get(made[0].document_id)).metadata.version == 2


async def test_what_is_exported_is_imported_as_the_same(place: Desk) -> None:
    await taken(place, HANDBOOK)
    await place.create("Of an agent", tags=("a",), category="b", metadata={"custom": {"x": 1.5}})
    files = await given(place)
    assert len(files) == 4
    assert await given(place, limit=1) == files
    assert set(await given(place, folder="documents/handbook/")) == {
        path for path in files if path.startswith("documents/")
    }
    assert await outcomes(place, files) == [UNCHANGED] * 4
    assert await outcomes(place, files, tenant="other") == [CREATED] * 4
    assert (await given(place, tenant="other")).keys() == files.keys()


async def test_a_document_that_was_written_since_is_kept(place: Desk) -> None:
    (first,) = await taken(place, {"generated/notes.md": "One.\n"})
    await place.update(first.document_id, content="Of an agent.\n")
    assert await outcomes(place, {"generated/notes.md": "One.\n"}) == [UNCHANGED]
    (refused,) = await taken(place, {"generated/notes.md": "Two.\n"})
    assert (refused.outcome, refused.code) == (REFUSED, ErrorCode.DOCUMENT_CONFLICT)
    assert (await place.get(first.document_id)).content == "Of an agent.\n"
    assert await outcomes(place, {"generated/notes.md": "Two.\n"}, replace=True) == [UPDATED]
    assert (await place.get(first.document_id)).content == "Two.\n"
    await place.update(first.document_id, content="Of an agent.\n")
    assert await outcomes(place, {"generated/notes.md": "Two.\n"}, replace=True) == [UPDATED]


async def test_one_refused_file_does_not_stop_the_others(place: Desk) -> None:
    await taken(place, {"documents/Retries.md": "One.\n", "documents/guide/a.md": "One.\n"})
    files = {
        "documents/retries.md": "Another case.\n",
        "documents/guide": "Not Markdown.\n",
        "documents/Guide.md/b.md": "One.\n",
        "documents/guide.md": "A folder has this name by now.\n",
        "../secret.md": "One.\n",
        "documents/large.md": "x" * (DOCUMENT_CHARS_MAX + 1),
        "documents/fine.md": "One.\n",
    }
    found = {one.path: one for one in await taken(place, files)}
    assert {path: one.code for path, one in found.items()} == {
        "documents/retries.md": ErrorCode.DOCUMENT_EXISTS,
        "documents/guide": ErrorCode.INVALID_PATH,
        "documents/Guide.md/b.md": None,
        "documents/guide.md": ErrorCode.DOCUMENT_EXISTS,
        "../secret.md": ErrorCode.INVALID_PATH,
        "documents/large.md": ErrorCode.PAYLOAD_TOO_LARGE,
        "documents/fine.md": None,
    }
    assert "documents/Retries.md" in found["documents/retries.md"].message
    assert "documents/Guide.md/b.md" in found["documents/guide.md"].message


async def test_copies_that_import_one_folder_at_once_make_each_document_once(place: Desk) -> None:
    files = {f"documents/{number}.md": f"{number}\n" for number in range(20)}
    runs = await asyncio.gather(*(outcomes(place, files) for _ in range(4)))
    assert sorted(one for run in runs for one in run) == [CREATED] * 20 + [UNCHANGED] * 60
    assert (await place.list()).total == 20


async def test_a_token_for_other_repositories_neither_imports_nor_exports(place: Desk) -> None:
    elsewhere = frozenset({"acme/shop"})
    with pytest.raises(PrismError) as caught:
        await taken(place, HANDBOOK, visible=elsewhere)
    assert caught.value.code is ErrorCode.FORBIDDEN
    await taken(place, HANDBOOK)
    assert await given(place, visible=elsewhere) == await given(place, tenant="other") == {}


async def test_imported_documents_are_committed_as_files(place: Desk) -> None:
    await taken(place, HANDBOOK)
    assert (await place.commit()).files_committed == tuple(sorted(HANDBOOK))
