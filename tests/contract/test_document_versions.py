"""The versions of a document: drafts and commits, their contents, and what differs, on a real NATS server."""

from collections.abc import AsyncIterator

import pytest
from workspace_stack import TENANT, Desk, desk

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.documents import (
    DOCUMENT_DIFF,
    DOCUMENT_VERSIONS,
    GET_DOCUMENT,
    DocumentDiffRequest,
    DocumentVersion,
    DocumentVersionsRequest,
    GetDocumentRequest,
)
from prism_workspace.operations import versions as operation


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Desk]:
    async with desk(nats_server.url) as made:
        yield made


async def listed(place: Desk, document: str, **fields: object):
    request = DocumentVersionsRequest(**({"tenant": TENANT, "document_id": document} | fields))
    return await place.ask(DOCUMENT_VERSIONS, request)


async def every(place: Desk, document: str, limit: int) -> list[DocumentVersion]:
    found, cursor = [], ""
    while True:
        page = await listed(place, document, limit=limit, cursor=cursor)
        found += page.versions
        cursor = page.next_cursor
        if not cursor:
            return found


async def content(place: Desk, document: str, version: str, **fields: object) -> str:
    request = GetDocumentRequest(**({"tenant": TENANT, "document_id": document, "version": version} | fields))
    return (await place.ask(GET_DOCUMENT, request)).content


async def diff(place: Desk, document: str, base: str = "", version: str = "") -> str:
    request = DocumentDiffRequest(tenant=TENANT, document_id=document, base=base, version=version)
    return (await place.ask(DOCUMENT_DIFF, request)).diff


async def refused(call) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        await call
    assert caught.value.body.next_action
    return caught.value.code


async def test_drafts_and_commits_are_listed_with_who_made_them(place: Desk) -> None:
    made = await place.create("First", "One.\n", author="ann")
    name = made.document_id
    committed = await place.commit(author="Ben", message="Write it\n\nAt length.")
    await place.create("Second")
    await place.commit(message="Write another one")
    await place.update(name, content="Two.\n")
    await place.update(name, content="Three.\n")
    third, second, first = (await listed(place, name)).versions
    assert [(one.version, one.is_draft) for one in (third, second)] == [("3", True), ("2", True)]
    assert (first.version, first.author, first.message) == (committed.commit_hash, "Ben", "Write it")
    assert [await content(place, name, one.version) for one in (third, second, first)] == [
        "Three.\n",
        "Two.\n",
        "One.\n",
    ]
    await place.commit(message="Change it")
    newest, oldest = (await listed(place, name)).versions
    assert (newest.message, oldest.version) == ("Change it", first.version)


async def test_the_author_of_a_draft_is_the_caller(place: Desk) -> None:
    made = await place.create("First", author="ann")
    assert [one.author for one in (await listed(place, made.document_id)).versions] == ["ann"]


async def test_a_commit_in_between_keeps_newer_drafts(place: Desk) -> None:
    made = await place.create("First", "One.\n")
    await place.update(made.document_id, content="Two.\n")
    await place.commit()
    await place.update(made.document_id, content="Three.\n")
    assert [one.is_draft for one in (await listed(place, made.document_id)).versions] == [True, False]
    assert await refused(content(place, made.document_id, "1")) is ErrorCode.VERSION_NOT_FOUND


async def test_pages_have_each_version_once_however_few_commits_are_read(place: Desk, monkeypatch) -> None:
    made = await place.create("First", "0\n")
    await place.commit()
    for number in range(1, 8):
        await place.update(made.document_id, content=f"{number}\n")
        await place.commit()
        await place.create(f"Other {number}")
        await place.commit()
    whole = (await listed(place, made.document_id)).versions
    assert len(whole) == 8
    for at_once, read_max in ((1, 1), (2, 5), (50, 500)):
        monkeypatch.setattr(operation, "COMMITS_AT_ONCE", at_once)
        monkeypatch.setattr(operation, "COMMITS_READ_MAX", read_max)
        for limit in (1, 3, 20):
            assert tuple(await every(place, made.document_id, limit)) == whole


async def test_a_diff_compares_any_two_versions(place: Desk) -> None:
    made = await place.create("First", "One.\n")
    assert "+One.\n" in await diff(place, made.document_id)
    commit = (await place.commit()).commit_hash
    assert await diff(place, made.document_id) == ""
    await place.update(made.document_id, content="Two.\n")
    changed = await diff(place, made.document_id)
    assert changed.endswith("-One.\n+Two.\n")
    assert await diff(place, made.document_id, base=commit, version="2") == changed
    assert await diff(place, made.document_id, base="2", version=commit) != changed


@pytest.mark.parametrize("version", ["99", "0" * 40, "9" * 9])
async def test_an_unknown_version_is_not_found(place: Desk, version: str) -> None:
    made = await place.create("First")
    await place.commit()
    assert await refused(content(place, made.document_id, version)) is ErrorCode.VERSION_NOT_FOUND
    assert await refused(diff(place, made.document_id, base=version)) is ErrorCode.VERSION_NOT_FOUND


async def test_a_blob_or_a_commit_of_others_is_no_version(place: Desk) -> None:
    ours = await place.create("Ours")
    (draft,) = (await listed(place, ours.document_id)).versions
    assert await refused(content(place, ours.document_id, draft.blob)) is ErrorCode.VERSION_NOT_FOUND
    await place.create("Theirs", tenant="other")
    theirs = (await place.commit(tenant="other")).commit_hash
    assert await refused(content(place, ours.document_id, theirs)) is ErrorCode.VERSION_NOT_FOUND
    assert await refused(listed(place, ours.document_id, cursor=theirs)) is ErrorCode.INVALID_CURSOR
    assert await refused(listed(place, ours.document_id, cursor="x y")) is ErrorCode.INVALID_CURSOR
    hidden = listed(place, ours.document_id, visible=frozenset({"acme/shop"}))
    assert await refused(hidden) is ErrorCode.DOCUMENT_NOT_FOUND
