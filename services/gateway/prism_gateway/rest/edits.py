"""Edits of a few files by an editor or a CI job, applied to the index in the live lane."""

from fastapi import APIRouter
from starlette.responses import Response

from prism_contracts.rpc.imports import EDIT, EditRequest, JobReply
from prism_gateway.rest import replies
from prism_gateway.rest.bodies import DiffBody, FileEditBody
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.idempotency import IDEMPOTENT, IdempotentRoute
from prism_gateway.rest.replies import reply

router = APIRouter(tags=["ingest"], prefix="/ingest", route_class=IdempotentRoute)


@router.post("/file", response_model=JobReply, status_code=202, dependencies=[IDEMPOTENT])
async def edit_file(body: FileEditBody, caller: Caller, backend: Services, repo: RepoHeader = "") -> Response:
    """Change or remove one file of a repository."""
    return await _edit(backend, body.request(caller.tenant, body.repo or repo))


@router.post("/diff", response_model=JobReply, status_code=202, dependencies=[IDEMPOTENT])
async def edit_by_diff(body: DiffBody, caller: Caller, backend: Services, repo: RepoHeader = "") -> Response:
    """Apply a diff to an indexed commit."""
    return await _edit(backend, body.request(caller.tenant, body.repo or repo))


async def _edit(backend: Services, request: EditRequest) -> Response:
    return reply(await backend.ask(EDIT, request), status=202, exclude=replies.JOB)
