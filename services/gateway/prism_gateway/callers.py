"""The caller of a request: a developer token, or a person who signed on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import Scope

STATE_KEY: Final = "caller"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, for which tenant, and what it may do."""

    tenant: str
    scopes: frozenset[str]  # see prism_gateway.scopes
    id: str  # `token:<12 hex>` or `jwt:<12 hex>`; it reveals nothing of a secret
    label: str
    repos: tuple[str, ...] = ()  # owner/name or @group; empty for every repository of the tenant
    expires_at: datetime | None = None


def address_of(scope: Scope) -> str:
    """Returns the address that a request came from; empty if the server knows none.

    Behind a proxy it is the client's: uvicorn takes `X-Forwarded-For` from the proxies that
    `FORWARDED_ALLOW_IPS` lists, by default this machine only.
    """
    client = scope.get("client")
    return str(client[0]) if client else ""


def caller_of(request: HTTPConnection) -> Caller:
    """Returns the caller of a guarded request."""
    caller = request.scope["state"][STATE_KEY]
    assert isinstance(caller, Caller)
    return caller
