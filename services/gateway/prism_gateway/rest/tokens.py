"""Developer tokens of a tenant."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.types import TenantIdOrNone, TokenId
from prism_gateway import token_desk
from prism_gateway.rest import replies
from prism_gateway.rest.bodies import TokenBody
from prism_gateway.rest.dependencies import Caller, Registry, ThisChange, Tokens
from prism_gateway.rest.idempotency import IDEMPOTENT, IdempotentRoute
from prism_gateway.rest.replies import reply

TenantQuery = Annotated[TenantIdOrNone, Query(description="Another tenant, for the scope `operator`.")]

router = APIRouter(prefix="/developer-tokens", tags=["tokens"], route_class=IdempotentRoute)


@router.post("", response_model=replies.CreatedToken, status_code=201, dependencies=[IDEMPOTENT])
async def create_token(
    body: TokenBody, *, caller: Caller, tenants: Registry, tokens: Tokens, change: ThisChange
) -> Response:
    """Create a token. The response is the only one with its secret.

    A token cannot have scopes or repositories that its creator does not have.
    """
    secret, known = await token_desk.create_token(body, caller, tenants, tokens, change)
    created = replies.CreatedToken(secret=secret, token=replies.DeveloperToken.of(*known))
    response = reply(created, status=201)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("", response_model=replies.DeveloperTokens)
async def list_tokens(caller: Caller, tokens: Tokens, tenant: TenantQuery = "") -> Response:
    """List the tokens of the tenant, also those that ended in the last 30 days."""
    known = await token_desk.list_tokens(caller, tokens, tenant)
    return reply(replies.DeveloperTokens(tokens=tuple(replies.DeveloperToken.of(*one) for one in known)))


@router.delete("/{token}", response_model=replies.DeveloperToken)
async def revoke_token(
    token: TokenId, *, caller: Caller, tokens: Tokens, change: ThisChange, tenant: TenantQuery = ""
) -> Response:
    """Revoke a token: every copy of the gateway refuses it within a second. A second call changes nothing."""
    revoked = await token_desk.revoke_token(token, caller, tokens, change, tenant)
    return reply(replies.DeveloperToken.of(token, revoked))
