"""The pages of tokens: list, create (its secret is shown once), revoke."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.responses import Response

from prism_contracts.errors import PrismError
from prism_gateway import token_desk
from prism_gateway.console.page import PageView, Visit, body_as, form_fields, redirect
from prism_gateway.grants import may_revoke
from prism_gateway.rest.bodies import TokenBody
from prism_gateway.scopes import EVERYTHING, TokenScope, granted

LASTS_DAYS: Final = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year", "": "no end"}
LASTS_DEFAULT: Final = "90"
ALLOWS: Final[Mapping[TokenScope, str]] = {
    TokenScope.READ: "ask questions",
    TokenScope.WRITE: "change the index, documents and tasks",
    TokenScope.ADMIN: "manage tokens and repositories, see usage and the audit",
    TokenScope.OPERATOR: "manage all tenants",
}


async def list_tokens(visit: Visit) -> Response:
    """The tokens that the caller manages."""
    return await _show(visit)


async def create_token(visit: Visit) -> Response:
    """Create a token, and show its secret this once."""
    fields = await form_fields(visit.request)
    given = dict(fields)
    try:
        body = body_as(
            TokenBody,
            {
                "label": given.get("label", ""),
                "scopes": [value for name, value in fields if name == "scopes"],
                "repos": given.get("repos", "").replace(",", " ").split(),
                "expires_at": _end(given.get("lasts", "")),
            },
        )
        parts = visit.parts
        secret, _ = await token_desk.create_token(
            body, visit.caller, parts.tenants, parts.tokens, visit.facts.change
        )
    except PrismError as error:
        return await _show(visit, status=422, given=given, error=visit.noted(error))
    return await _show(visit, secret=secret)


async def revoke_token(visit: Visit) -> Response:
    """Revoke a token."""
    token = visit.part("token")
    await token_desk.revoke_token(token, visit.caller, visit.parts.tokens, visit.facts.change)
    return redirect(f"/tokens?revoked={token}")


async def _show(visit: Visit, *, status: int = 200, secret: str = "", **values: object) -> Response:
    known = await token_desk.list_tokens(visit.caller, visit.parts.tokens)
    own = granted(visit.caller.scopes)
    return visit.show(
        "tokens.html",
        status=status,
        secret=secret,
        now=datetime.now(UTC),
        tokens=[(one, may_revoke(visit.caller, one.token)) for one in known],
        scopes=[(scope.value, ALLOWS[scope]) for scope in EVERYTHING if scope in own],
        revoked=next(
            (
                one.token.label or one.id
                for one in known
                if one.id == visit.query.get("revoked") and one.token.revoked_at
            ),
            "",
        ),
        lasts=LASTS_DAYS,
        lasts_default=LASTS_DEFAULT,
        mine=visit.caller.id.partition(":")[2],
        **{"given": {}, "error": None, **values},
    )


def _end(days: str) -> datetime | None:
    """Returns when a token ends; None for one that does not."""
    return datetime.now(UTC) + timedelta(days=int(days)) if days in LASTS_DAYS and days else None


VIEWS: Final = (
    PageView("/tokens", "GET /developer-tokens", list_tokens),
    PageView("/tokens", "POST /developer-tokens", create_token, method="POST"),
    PageView("/tokens/{token}/revoke", "DELETE /developer-tokens/{token}", revoke_token, method="POST"),
)
