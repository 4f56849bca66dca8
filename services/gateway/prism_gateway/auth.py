"""Authentication by bearer token, before REST and MCP see a request.

A token is a developer token of Prism (`prism_…`) or an access token of an identity provider, see
prism_gateway.signon.
"""

import time
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.token_secrets import PREFIX
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.accounting.usage import UsageLog
from prism_gateway.callers import STATE_KEY, Caller, address_of
from prism_gateway.mcp.errors import refusal
from prism_gateway.rates.strangers import Strangers
from prism_gateway.rest.errors import error_response
from prism_gateway.scopes import READ, TOOLS, check_scope
from prism_gateway.signon.door import MCP_PATH, SignOn, signed_on
from prism_gateway.signon.resource import INSUFFICIENT_SCOPE, INVALID_TOKEN
from prism_gateway.tokens import TokenBook

WEBHOOK_PATH = "/api/v1/ingest/webhook"
GUARDED_PATHS = ("/api", MCP_PATH)
# Forges send no token. They sign their webhooks instead, see prism_gateway.webhooks.
OPEN_PATHS = frozenset({WEBHOOK_PATH})
REST_DOOR = "/api"  # in usage, like MCP_PATH
CHALLENGED = (ErrorCode.UNAUTHENTICATED, ErrorCode.FORBIDDEN)


class BearerAuth:
    """ASGI middleware: guarded paths need a token. Its caller is stored in the request's state."""

    def __init__(
        self, app: ASGIApp, tokens: TokenBook, sign_on: SignOn, strangers: Strangers, usage: UsageLog
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._sign_on = sign_on
        self._strangers = strangers
        self._usage = usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or 403, or forward the request."""
        if scope["type"] != "http" or not _is_guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        try:
            caller = await self._admit(scope["path"], Headers(scope=scope), address_of(scope))
        except _Refused as refused:
            door = MCP_PATH if scope["path"].startswith(MCP_PATH) else REST_DOOR
            self._usage.count(None, CallFacts(call=door, code=refused.code), began)
            await refused.response(scope["path"])(scope, receive, send)
            return
        scope.setdefault("state", {})[STATE_KEY] = caller
        await self._app(scope, receive, send)

    async def _admit(self, path: str, headers: Headers, address: str) -> Caller:
        secret = secret_of(headers)
        try:
            caller = await self._identify(secret)
        except PrismError as error:
            challenge = self._challenge(path, INVALID_TOKEN if secret else "")
            raise _Refused(self._limited(error, address), challenge) from error
        tool = _called_tool(path, headers)
        if tool and self._sign_on.resource and signed_on(caller):
            try:
                check_scope(caller, TOOLS[tool])
            except PrismError as error:
                wanted = caller.scopes | (TOOLS[tool] if len(TOOLS[tool]) == 1 else READ)
                raise _Refused(error.body, self._challenge(path, INSUFFICIENT_SCOPE, wanted)) from error
        return caller

    async def _identify(self, secret: str) -> Caller:
        if not secret:
            raise self._unauthenticated("This endpoint needs a token.")
        if secret.startswith(PREFIX) or not self._sign_on.is_open:
            caller, problem = await self._tokens.find(secret), "The token is unknown, expired or revoked."
        else:
            caller, problem = await self._sign_on.caller(secret), "The token is invalid."
        if caller is None:
            raise self._unauthenticated(problem)
        return caller

    def _limited(self, error: PrismError, address: str) -> ErrorBody:
        """Returns the error, or that its address sent too many like it."""
        if error.code is ErrorCode.UNAUTHENTICATED:
            try:
                self._strangers.count(address)
            except PrismError as too_many:
                return too_many.body
        return error.body

    def _challenge(self, path: str, problem: str, scopes: Iterable[str] = READ) -> str:
        if path.startswith(MCP_PATH) and self._sign_on.resource:
            return self._sign_on.resource.challenge(problem, scopes)
        return f'Bearer error="{problem}"' if problem and self._sign_on.is_open else "Bearer"

    def _unauthenticated(self, message: str) -> PrismError:
        other = " An access token of an identity provider works too." if self._sign_on.is_open else ""
        return PrismError(
            ErrorCode.UNAUTHENTICATED,
            message,
            "Send `Authorization: Bearer prism_…`. `prism connect` prints a client configuration with a token."
            + other,
        )


class _Refused(Exception):  # noqa: N818 - an answer, not a failure
    """A request that goes no further."""

    def __init__(self, body: ErrorBody, challenge: str) -> None:
        self._body = body
        self.code = body.code.value
        self._challenge = challenge

    def response(self, path: str) -> Response:
        response = (refusal if path.startswith(MCP_PATH) else error_response)(self._body)
        if self._body.code in CHALLENGED:
            response.headers["WWW-Authenticate"] = self._challenge
        return response


def _is_guarded(path: str) -> bool:
    return path.startswith(GUARDED_PATHS) and path not in OPEN_PATHS


def secret_of(headers: Headers) -> str:
    """Returns the bearer token of a request; empty without one."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _called_tool(path: str, headers: Headers) -> str:
    """Returns the tool that a call names in its headers, as clients of the revision 2026-07-28 do.

    The SDK refuses a call whose body names another. Older clients learn of a missing scope from the tool.
    """
    if not path.startswith(MCP_PATH) or headers.get("mcp-method") != "tools/call":
        return ""
    name = headers.get("mcp-name", "")
    return name if name in TOOLS else ""
