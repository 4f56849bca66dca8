"""Developer tokens as their owners manage them, over REST and in the console."""

from datetime import UTC, datetime

from prism_catalog.tenants import Tenants
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Token
from prism_gateway.accounting.changes import CallChange
from prism_gateway.callers import Caller
from prism_gateway.grants import check_grant, may_revoke, may_see, tenant_for
from prism_gateway.rest.bodies import TokenBody
from prism_gateway.tokens import KnownToken, TokenBook


async def create_token(
    body: TokenBody, caller: Caller, tenants: Tenants, tokens: TokenBook, change: CallChange
) -> tuple[str, KnownToken]:
    """Create a token. Returns its secret, which is nowhere else, and the token.

    Raises FORBIDDEN if it could do what its creator cannot.
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
    return secret, known


async def list_tokens(caller: Caller, tokens: TokenBook, tenant: str = "") -> list[KnownToken]:
    """Returns the tokens that a caller manages, the newest first, also those that ended in the last 30 days."""
    known = await tokens.of_tenant(tenant_for(caller, tenant))
    return [one for one in known if may_see(caller, one.token)]


async def revoke_token(
    token: str, caller: Caller, tokens: TokenBook, change: CallChange, tenant: str = ""
) -> Token:
    """Revoke a token by its id. Raises NOT_FOUND, and FORBIDDEN if the caller could not have granted it."""
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
    return revoked


def _unknown(token: str) -> PrismError:
    return PrismError(
        ErrorCode.NOT_FOUND,
        f"The tenant has no token {token}.",
        "GET /api/v1/developer-tokens lists the tokens with their ids.",
    )
