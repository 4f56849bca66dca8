"""Descriptions of the files and components of a repository."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.rpc.descriptions import (
    DESCRIBE,
    DESCRIPTIONS,
    DESCRIPTIONS_LIMIT_MAX,
    DescribeRequest,
    DescriptionsProgress,
    DescriptionsReply,
    DescriptionsRequest,
)
from prism_contracts.types import Cursor, Glob, RepoKey
from prism_gateway.rest.dependencies import Caller, Services
from prism_gateway.rest.replies import reply

router = APIRouter(tags=["descriptions"])


@router.get("/repos/{name:path}/descriptions", response_model=DescriptionsReply)
async def list_descriptions(
    *,
    name: RepoKey,
    caller: Caller,
    backend: Services,
    path: Annotated[Glob, Query(description="only files that match this glob")] = "",
    limit: Annotated[int, Query(ge=1, le=DESCRIPTIONS_LIMIT_MAX)] = 50,
    cursor: Cursor = "",
) -> Response:
    """List what files and components are for, the most depended-upon files first, and who says so."""
    request = DescriptionsRequest(
        tenant=caller.tenant, repo=name, path_filter=path, limit=limit, cursor=cursor
    )
    return reply(await backend.ask(DESCRIPTIONS, request))


@router.post("/repos/{name:path}/descriptions", response_model=DescriptionsProgress, status_code=202)
async def describe(name: RepoKey, caller: Caller, backend: Services) -> Response:
    """Have the language model describe what it has not described yet.

    Answers at once. Repeat it to resume what stopped; without a model, rules have described everything already.
    """
    return reply(await backend.ask(DESCRIBE, DescribeRequest(tenant=caller.tenant, repo=name)), status=202)
