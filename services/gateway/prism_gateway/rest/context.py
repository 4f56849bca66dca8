"""The context of a question."""

from fastapi import APIRouter
from starlette.responses import Response

from prism_contracts.rpc.context import ANSWER_CONTEXT, CONTEXT, ContextReply
from prism_gateway.rest.bodies import ContextBody
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.replies import reply

router = APIRouter(tags=["search"])


@router.post("/context", response_model=ContextReply)
async def context(body: ContextBody, caller: Caller, backend: Services, repo: RepoHeader = "") -> Response:
    """Gather the places that one needs to answer a question."""
    scope = {"tenant": caller.tenant, "repo": body.repo or repo}
    request = body.model_copy(update=scope)
    found = await backend.ask(CONTEXT, request)
    return reply(await backend.ask(ANSWER_CONTEXT, request) if found.can_answer else found)
