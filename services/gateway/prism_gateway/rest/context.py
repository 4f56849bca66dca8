"""The context of a question."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from prism_contracts.rpc.context import ANSWER_CONTEXT, ContextReply
from prism_gateway.context import rounds_of
from prism_gateway.rest.bodies import ContextBody
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.disconnects import answered_unless_left
from prism_gateway.rest.replies import reply

router = APIRouter(tags=["search"])


@router.post("/context", response_model=ContextReply)
async def context(
    body: ContextBody, request: Request, caller: Caller, backend: Services, repo: RepoHeader = ""
) -> Response:
    """Gather the places that one needs to answer a question. No round begins after the caller disconnects."""
    asked = body.model_copy(update={"tenant": caller.tenant, "repo": body.repo or repo})

    async def answer() -> Response:
        async for found in rounds_of(backend, asked):
            last = found
        return reply(await backend.ask(ANSWER_CONTEXT, asked) if last.can_answer else last)

    return await answered_unless_left(request, answer())
