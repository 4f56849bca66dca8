"""Dead letters: list them, retry one, drop one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from prism_contracts.rpc.dead_letters import (
    DROP_LETTER,
    RETRY_LETTER,
    DropLetterRequest,
    LetterReply,
    RetryLetterRequest,
)
from prism_contracts.types import COUNT_MAX
from prism_gateway.dead_letters import SHOWN_DEFAULT, SHOWN_MAX, DeadLetters, dead_letters
from prism_gateway.rest import replies
from prism_gateway.rest.dependencies import Caller, Connection, Services
from prism_gateway.rest.replies import reply

router = APIRouter(prefix="/dead-letters", tags=["dead letters"])

Letter = Annotated[int, Path(ge=1, le=COUNT_MAX, description="The number that the list shows.")]


@router.get("", response_model=DeadLetters)
async def list_letters(
    backend: Services, bus: Connection, limit: Annotated[int, Query(ge=1, le=SHOWN_MAX)] = SHOWN_DEFAULT
) -> Response:
    """List messages that were given up, the newest first, without their contents."""
    return reply(await dead_letters(bus.js, backend, limit))


@router.post("/{letter}/retry", response_model=LetterReply, status_code=202)
async def retry_letter(letter: Letter, caller: Caller, backend: Services) -> Response:
    """Publish the message again, or read its repository again, and drop the letter.

    A repository is read again for all letters of the same branch at once; `dropped` counts them.
    """
    request = RetryLetterRequest(tenant=caller.tenant, letter=letter)
    return reply(await backend.ask(RETRY_LETTER, request), status=202, exclude=replies.JOB)


@router.delete("/{letter}", response_model=LetterReply)
async def drop_letter(letter: Letter, caller: Caller, backend: Services) -> Response:
    """Delete a letter. What its message was for stays undone."""
    return reply(await backend.ask(DROP_LETTER, DropLetterRequest(tenant=caller.tenant, letter=letter)))
