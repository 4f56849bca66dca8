"""The remote of the documents: the team's own git repository."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from prism_contracts.rpc.document_remote import (
    DOCUMENT_BUNDLE,
    GET_DOCUMENT_REMOTE,
    PUSH_DOCUMENTS,
    REMOVE_DOCUMENT_REMOTE,
    SET_DOCUMENT_REMOTE,
    DocumentBundleRequest,
    DocumentRemoteReply,
    GetDocumentRemoteRequest,
    PushDocumentsRequest,
    RemoveDocumentRemoteRequest,
    SetDocumentRemoteRequest,
)
from prism_gateway.rest.bodies import DocumentRemoteBody
from prism_gateway.rest.dependencies import Caller, Services
from prism_gateway.rest.replies import reply

BUNDLE = "application/x-git-bundle"
BUNDLE_RESPONSE: dict[int | str, dict[str, Any]] = {200: {"content": {BUNDLE: {}}}}

router = APIRouter(tags=["documents"])


@router.get("/documents/bundle", response_class=Response, responses=BUNDLE_RESPONSE)
async def get_bundle(caller: Caller, backend: Services) -> Response:
    """Return the committed documents with their history as a git bundle, which `git clone` takes."""
    made = await backend.ask(DOCUMENT_BUNDLE, DocumentBundleRequest(tenant=caller.tenant))
    headers = {"Content-Disposition": 'attachment; filename="documents.bundle"', "ETag": f'"{made.commit}"'}
    return Response(made.bundle, media_type=BUNDLE, headers=headers)


@router.get("/documents/remote", response_model=DocumentRemoteReply)
async def get_remote(caller: Caller, backend: Services) -> Response:
    """Return the remote of the documents, and whether commits wait to be pushed."""
    request = GetDocumentRemoteRequest(tenant=caller.tenant)
    return reply(await backend.ask(GET_DOCUMENT_REMOTE, request))


@router.put("/documents/remote", response_model=DocumentRemoteReply)
async def set_remote(body: DocumentRemoteBody, caller: Caller, backend: Services) -> Response:
    """Set the git repository that the documents are pushed to and fetched from."""
    request = SetDocumentRemoteRequest(
        tenant=caller.tenant, url=body.url, branch=body.branch, set_by=caller.label
    )
    return reply(await backend.ask(SET_DOCUMENT_REMOTE, request))


@router.post("/documents/push", response_model=DocumentRemoteReply)
async def push_documents(caller: Caller, backend: Services) -> Response:
    """Fetch what the remote has, and push what is committed. Nothing is ever forced."""
    request = PushDocumentsRequest(tenant=caller.tenant)
    return reply(await backend.ask(PUSH_DOCUMENTS, request))


@router.delete("/documents/remote", response_model=DocumentRemoteReply)
async def remove_remote(caller: Caller, backend: Services) -> Response:
    """Forget the remote. The documents and the remote itself stay as they are."""
    request = RemoveDocumentRemoteRequest(tenant=caller.tenant)
    return reply(await backend.ask(REMOVE_DOCUMENT_REMOTE, request))
