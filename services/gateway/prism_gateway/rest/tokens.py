"""Developer tokens of a tenant."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Token
from prism_contracts.types import TenantIdOrNone, TokenId
from prism_gateway.grants import check_grant, may_revoke, may_see, tenant_for
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
    change.describe(
        label=body.label,
        scopes=", ".join(sorted(body.scopes)),
        repos=", ".join(body.repos),
        expires_at=body.expires_at and body.expires_at.isoformat(),
    )
    tenant = change.tenant = tenant_for(caller, body.tenant)
    check_grant(caller, body.scopes, body.repos)
    if tenant != caller.tenant:
        await tenants.check(tenant)  # a typo makes no tenant
    token = Token(
        tenant=tenant,
        label=body.label,
        scopes=tuple(sorted(body.scopes)),
        repos=tuple(dict.fromkeys(body.repos)),
        expires_at=body.expires_at,
        created_at=datetime.now(UTC),
        created_by=caller.id,
    )
    secret, known = await tokens.create(token)
    change.subject = known.id
    created = replies.CreatedToken(secret=secret, token=replies.DeveloperToken.of(*known))
    response = reply(created, status=201)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("", response_model=replies.DeveloperTokens)
async def list_tokens(caller: Caller, tokens: Tokens, tenant: TenantQuery = "") -> Response:
    """List the tokens of the tenant, also those that ended in the last 30 days."""
    known = await tokens.of_tenant(tenant_for(caller, tenant))
    shown = tuple(replies.DeveloperToken.of(*one) for one in known if may_see(caller, one.token))
    return reply(replies.DeveloperTokens(tokens=shown))


@router.delete("/{token}", response_model=replies.DeveloperToken)
async def revoke_token(
    token: TokenId, *, caller: Caller, tokens: Tokens, change: ThisChange, tenant: TenantQuery = ""
) -> Response:
    """Revoke a token: every copy of the gateway refuses it within a second. A second call changes nothing."""
    change.subject = token
    owner = change.tenant = tenant_for(caller, tenant)
    found = next((one for one in await tokens.of_tenant(owner) if one.id == token), None)
    if found is None or not may_see(caller, found.token):
        raise _unknown(token)
    if not may_revoke(caller, found.token):
        raise PrismError(
            ErrorCode.FORBIDDEN,
            f"The token {token} has scopes that yours does not have: {', '.join(found.token.scopes)}.",
            "Use a token with these scopes.",
        )
    change.describe(label=found.token.label)
    revoked = await tokens.revoke(owner, token)
    if revoked is None:
        raise _unknown(token)
    return reply(replies.DeveloperToken.of(token, revoked))


def _unknown(token: str) -> PrismError:
    return PrismError(
        ErrorCode.NOT_FOUND,
        f"The tenant has no token {token}.",
        "GET /api/v1/developer-tokens lists the tokens with their ids.",
    )
