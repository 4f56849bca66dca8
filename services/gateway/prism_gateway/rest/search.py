"""Search by meaning and exact search."""

from fastapi import APIRouter
from starlette.responses import Response

from prism_contracts.rpc.search import GREP, GrepReply, SearchReply, SearchRequest
from prism_gateway.rest.bodies import GrepBody, SearchBody
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.replies import reply
from prism_gateway.search import search as search_within

router = APIRouter(tags=["search"])


@router.post("/search", response_model=SearchReply)
async def search(body: SearchBody, caller: Caller, backend: Services, repo: RepoHeader = "") -> Response:
    """Find the lines that answer a question."""
    asked = body.model_dump(exclude={"tenant", "visible", "repo", "max_tokens"})
    request = SearchRequest(**asked, tenant=caller.tenant, repo=body.repo or repo)
    return reply(await search_within(backend, request, body.max_tokens))


@router.post("/grep", response_model=GrepReply)
async def grep(body: GrepBody, caller: Caller, backend: Services, repo: RepoHeader = "") -> Response:
    """Find every line that matches."""
    scope = {"tenant": caller.tenant, "repo": body.repo or repo}
    return reply(await backend.ask(GREP, body.model_copy(update=scope)))
