"""SCIP indexes from CI. The body of an upload may be larger than memory, so it goes through a file."""

import tempfile
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from prism_contracts.rpc.imports import (
    LIST_SCIP,
    REMOVE_SCIP,
    ListScipReply,
    ListScipRequest,
    RemoveScipReply,
    RemoveScipRequest,
    StoreScipReply,
    StoreScipRequest,
)
from prism_contracts.types import CommitId, FilePath, RepoKeyOrNone, ShortText
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.replies import reply

# Smaller bodies stay in memory.
SPOOL_BYTES = 4 * 1024 * 1024
SCIP_DOC = {
    "requestBody": {
        "required": True,
        "description": "The file index.scip, plain or gzipped.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

router = APIRouter(tags=["ingest"], prefix="/ingest")


@router.post("/scip", response_model=StoreScipReply, openapi_extra=SCIP_DOC)
async def store_scip(
    request: Request,
    *,
    caller: Caller,
    backend: Services,
    commit: Annotated[CommitId, Query(description="The full hash of the commit.")],
    repo: RepoKeyOrNone = "",
    root: Annotated[FilePath, Query(description="The folder that paths in the index are relative to.")] = "",
    x_prism_repo: RepoHeader = "",
) -> Response:
    """Upload a SCIP index of an indexed commit.

    Its references take precedence over those that Prism resolves.
    """
    with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as file:
        async for block in request.stream():
            file.write(block)
        file.seek(0)
        question = StoreScipRequest(
            tenant=caller.tenant, repo=repo or x_prism_repo, commit=commit, root=root, object=""
        )
        return reply(await backend.store_scip(question, file))


@router.get("/scip", response_model=ListScipReply)
async def list_scip(
    caller: Caller, backend: Services, repo: RepoKeyOrNone = "", header: RepoHeader = ""
) -> Response:
    """List the SCIP indexes of a repository."""
    return reply(await backend.ask(LIST_SCIP, ListScipRequest(tenant=caller.tenant, repo=repo or header)))


@router.delete("/scip", response_model=RemoveScipReply)
async def remove_scip(
    caller: Caller,
    backend: Services,
    *,
    indexer: Annotated[ShortText, Query(description="The indexer, as listed.")],
    root: Annotated[FilePath, Query(description="The folder of the index, as listed.")] = "",
    repo: RepoKeyOrNone = "",
    header: RepoHeader = "",
) -> Response:
    """Remove a SCIP index. The references that Prism resolves are returned again."""
    request = RemoveScipRequest(tenant=caller.tenant, repo=repo or header, indexer=indexer, root=root)
    return reply(await backend.ask(REMOVE_SCIP, request))
