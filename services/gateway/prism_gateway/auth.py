"""Authentication by bearer token, before REST and MCP see a request."""

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.callers import STATE_KEY, Caller
from prism_gateway.mcp.errors import refusal
from prism_gateway.rest.errors import error_response
from prism_gateway.tokens import TokenBook

MCP_PATH = "/mcp"
WEBHOOK_PATH = "/api/v1/ingest/webhook"
GUARDED_PATHS = ("/api", MCP_PATH)
# Forges send no token. They sign their webhooks instead, see prism_gateway.webhooks.
OPEN_PATHS = frozenset({WEBHOOK_PATH})


class BearerAuth:
    """ASGI middleware: guarded paths need a token. Its caller is stored in the request's state."""

    def __init__(self, app: ASGIApp, tokens: TokenBook) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or forward the request."""
        if scope["type"] != "http" or not _is_guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._identify(HTTPConnection(scope).headers.get("authorization", ""))
        except PrismError as error:
            answer = refusal if scope["path"].startswith(MCP_PATH) else error_response
            await answer(error.body)(scope, receive, send)
            return
        scope.setdefault("state", {})[STATE_KEY] = caller
        await self._app(scope, receive, send)

    async def _identify(self, header: str) -> Caller:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise _unauthenticated("This endpoint needs a token.")
        caller = await self._tokens.find(secret.strip())
        if caller is None:
            raise _unauthenticated("The token is unknown, expired or revoked.")
        return caller


def _is_guarded(path: str) -> bool:
    return path.startswith(GUARDED_PATHS) and path not in OPEN_PATHS


def _unauthenticated(message: str) -> PrismError:
    return PrismError(
        ErrorCode.UNAUTHENTICATED,
        message,
        "Send `Authorization: Bearer prism_…`. `prism connect` prints a client configuration with a token.",
    )
