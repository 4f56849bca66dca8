"""The remote of the documents: its settings, as callers of workspace see them."""

import pytest
from workspace_stack import TENANT, Desk, desk

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.document_remote import (
    GET_DOCUMENT_REMOTE,
    REMOVE_DOCUMENT_REMOTE,
    SET_DOCUMENT_REMOTE,
    DocumentRemoteReply,
    GetDocumentRemoteRequest,
    RemoveDocumentRemoteRequest,
    SetDocumentRemoteRequest,
)

URL = "https://192.0.2.1/acme/documents.git"


@pytest.fixture
async def office(nats_server):
    async with desk(nats_server.url, clone_allow_private=True) as opened:
        yield opened


async def put(office: Desk, url: str = URL, **fields: object) -> DocumentRemoteReply:
    request = SetDocumentRemoteRequest(**({"tenant": TENANT, "url": url} | fields))
    return await office.ask(SET_DOCUMENT_REMOTE, request)


async def get(office: Desk, tenant: str = TENANT) -> DocumentRemoteReply:
    return await office.ask(GET_DOCUMENT_REMOTE, GetDocumentRemoteRequest(tenant=tenant))


async def test_a_remote_belongs_to_its_tenant_until_it_is_removed(office) -> None:
    made = await put(office, branch="trunk", set_by="ada")
    assert (made.url, made.branch, made.set_by) == (URL, "trunk", "ada")
    assert await get(office) == made
    with pytest.raises(PrismError) as caught:
        await get(office, "other")
    assert caught.value.code is ErrorCode.REMOTE_NOT_SET
    request = RemoveDocumentRemoteRequest(tenant=TENANT)
    assert (await office.ask(REMOVE_DOCUMENT_REMOTE, request)).url == ""
    for rpc, again in (
        (GET_DOCUMENT_REMOTE, GetDocumentRemoteRequest(tenant=TENANT)),
        (REMOVE_DOCUMENT_REMOTE, request),
    ):
        with pytest.raises(PrismError) as caught:
            await office.ask(rpc, again)
        assert caught.value.code is ErrorCode.REMOTE_NOT_SET


async def test_commits_wait_for_a_remote_as_soon_as_it_is_set(office) -> None:
    assert not (await put(office)).pending_push
    await office.create("Retries")
    await office.commit()
    assert (await get(office)).pending_push


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"url": "https://ada:hunter2xyz@192.0.2.1/acme/documents"}, ErrorCode.CLONE_REFUSED),
        ({"url": "file:///etc"}, ErrorCode.CLONE_REFUSED),
        ({"url": "ext::sh -c id"}, ErrorCode.CLONE_REFUSED),
        ({"url": "https://name.invalid/acme/documents"}, ErrorCode.INVALID_ARGUMENT),
        ({"branch": "-force"}, ErrorCode.INVALID_ARGUMENT),
        ({"branch": "a..b"}, ErrorCode.INVALID_ARGUMENT),
        ({"visible": frozenset({"acme/app"})}, ErrorCode.FORBIDDEN),
    ],
)
async def test_a_remote_that_is_not_safe_is_refused(office, fields, code) -> None:
    with pytest.raises(PrismError) as caught:
        await put(office, **fields)
    assert caught.value.code is code
    assert "hunter2xyz" not in str(caught.value.body)
    with pytest.raises(PrismError):
        await get(office)


async def test_private_addresses_are_refused_unless_the_setting_allows_them(nats_server) -> None:
    async with desk(nats_server.url) as office:
        with pytest.raises(PrismError) as caught:
            await put(office, "https://127.0.0.1/acme/documents")
        assert caught.value.code is ErrorCode.CLONE_REFUSED
