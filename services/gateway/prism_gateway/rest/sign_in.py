"""One-time codes, with which `prism open` signs a person in to the console."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.token_secrets import PREFIX, digest_of
from prism_gateway.auth import secret_of
from prism_gateway.console.sessions import CODE
from prism_gateway.rest import replies
from prism_gateway.rest.dependencies import ConsoleSessions
from prism_gateway.rest.replies import reply

router = APIRouter(tags=["tokens"])


@router.post("/sign-in-codes", response_model=replies.SignInCode, status_code=201)
async def create_sign_in_code(request: Request, sessions: ConsoleSessions) -> Response:
    """Return a code that signs in to the console once, with the rights of this token, within a minute.

    Open `/login?code=` with it.
    """
    secret = secret_of(request.headers)
    if not secret.startswith(PREFIX):
        raise PrismError(
            ErrorCode.FORBIDDEN,
            "Only developer tokens of Prism sign in to the console.",
            "Use a token that `prism tokens create` made.",
        )
    code = await sessions.issue_code(digest_of(secret))
    response = reply(replies.SignInCode(code=code, seconds=CODE.seconds), status=201)
    response.headers["Cache-Control"] = "no-store"
    return response
