"""Documents of tenants, on a real NATS server: what is created is read, listed and kept apart."""

import asyncio
import random
import string
from collections.abc import AsyncIterator

import pytest
from workspace_stack import DOCUMENTS, TENANT, Desk, desk

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.documents import (
    GET_DOCUMENT,
    GET_DOCUMENT_METADATA,
    GetDocumentMetadataRequest,
    GetDocumentRequest,
    NewDocumentMetadata,
)


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Desk]:
    async with desk(nats_server.url) as made:
        yield made


async def refused(call) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        await call
    assert caught.value.body.next_action
    return caught.value.code


async def test_a_created_document_is_read_by_id_and_by_path(place: Desk) -> None:
    metadata = NewDocumentMetadata(description="Why.", sources=("https://example.com",), custom={"a": "b"})
    made = await place.create("Retries", "# Retries\n\nThree times.\n", tags=("delivery",), metadata=metadata)
    assert made.path == f"generated/{made.created_at:%Y/%m/%Y-%m-%d}-retries.md"
    by_id = await place.get(made.document_id)
    by_path = await place.ask(GET_DOCUMENT, GetDocumentRequest(tenant=TENANT, path=made.path))
    assert by_path == by_id
    assert by_id.content == "# Retries\n\nThree times.\n"
    assert (by_id.metadata.description, by_id.metadata.custom) == ("Why.", {"a": "b"})
    assert (by_id.metadata.is_draft, by_id.metadata.is_generated, by_id.metadata.word_count) == (
        True,
        True,
        3,
    )
    assert "title: Retries\n" in by_id.frontmatter
    request = GetDocumentMetadataRequest(tenant=TENANT, path=made.path)
    assert (await place.ask(GET_DOCUMENT_METADATA, request)).metadata == by_id.metadata


async def test_a_document_is_listed_at_once(place: Desk) -> None:
    for number in range(5):
        await place.create(f"Note {number}")
        assert (await place.list()).total == number + 1
    newest = (await place.list(limit=1)).documents[0]
    assert (newest.title, newest.summary) == ("Note 4", "Text.")


async def test_documents_of_one_title_have_paths_of_their_own(place: Desk) -> None:
    made = await asyncio.gather(*(place.create("Same", f"{number}\n") for number in range(8)))
    assert len({one.path for one in made}) == len({one.document_id for one in made}) == 8
    contents = {(await place.get(one.document_id)).content for one in made}
    assert contents == {f"{number}\n" for number in range(8)}


async def test_tenants_do_not_see_each_other(place: Desk) -> None:
    made = await place.create("Ours")
    assert await refused(place.get(made.document_id, tenant="other")) is ErrorCode.DOCUMENT_NOT_FOUND
    by_path = GetDocumentRequest(tenant="other", path=made.path)
    assert await refused(place.ask(GET_DOCUMENT, by_path)) is ErrorCode.DOCUMENT_NOT_FOUND
    assert (await place.list(tenant="other")).total == 0


async def test_a_token_for_other_repositories_neither_sees_nor_writes_documents(place: Desk) -> None:
    made = await place.create("Ours")
    elsewhere = frozenset({"acme/shop"})
    hidden = GetDocumentRequest(tenant=TENANT, document_id=made.document_id, visible=elsewhere)
    assert await refused(place.ask(GET_DOCUMENT, hidden)) is ErrorCode.DOCUMENT_NOT_FOUND
    assert (await place.list(visible=elsewhere)).total == 0
    assert await refused(place.create("Theirs", visible=elsewhere)) is ErrorCode.FORBIDDEN
    assert (await place.list(visible=elsewhere | {DOCUMENTS})).total == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, ErrorCode.INVALID_ARGUMENT),
        ({"document_id": "a", "path": "b"}, ErrorCode.INVALID_ARGUMENT),
        ({"path": "../secret.md"}, ErrorCode.INVALID_PATH),
        ({"path": "/etc/passwd"}, ErrorCode.INVALID_PATH),
        ({"path": "generated/a\0.md"}, ErrorCode.INVALID_PATH),
        ({"document_id": "none. > *"}, ErrorCode.DOCUMENT_NOT_FOUND),
    ],
)
async def test_a_document_that_cannot_be_named_is_refused(place: Desk, fields, code: ErrorCode) -> None:
    assert await refused(place.ask(GET_DOCUMENT, GetDocumentRequest(tenant=TENANT, **fields))) is code


async def test_a_document_may_be_as_large_as_an_indexed_file(place: Desk) -> None:
    letters = random.Random(1).choices(string.printable[:94], k=1024 * 1024 - 1000)
    large = await place.create("Large", "".join(letters))  # compressed, it is too large for a record
    assert (await place.get(large.document_id)).content == "".join(letters)
    assert await refused(place.create("Larger", "é" * 600_000)) is ErrorCode.PAYLOAD_TOO_LARGE
    assert await refused(place.create("Binary", "a\0b")) is ErrorCode.INVALID_ARGUMENT
