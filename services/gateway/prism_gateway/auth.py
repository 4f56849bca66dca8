"""Authentication by bearer token, before REST and MCP see a request.

A token is a secret `prism_…`. Prism stores only its SHA-256, as the key of the token's record. Lookups
compare digests, never secrets, so their timing reveals nothing about a secret. Tokens are never logged.
"""

import asyncio
import hashlib
import logging
from datetime import UTC, datetime

from nats.errors import Error as NatsError
from nats.js.kv import KeyValue
from pydantic import ValidationError
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Token
from prism_gateway.mcp.errors import refusal
from prism_gateway.rest.errors import error_response
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket

TOKEN_PREFIX = "prism_"  # noqa: S105 - a prefix, not a secret
TOKEN_CHARS_MAX = 512
LOOKUP_TIMEOUT_S = 2.0
MCP_PATH = "/mcp"
WEBHOOK_PATH = "/api/v1/ingest/webhook"
GUARDED_PATHS = ("/api", MCP_PATH)
# Forges send no token. They sign their webhooks instead, see prism_gateway.webhooks.
OPEN_PATHS = frozenset({WEBHOOK_PATH})
STATE_KEY = "caller"

log = logging.getLogger(__name__)


class TokenBook:
    """The tokens of all tenants.

    An in-memory copy follows the bucket, so a revocation takes effect at once.
    """

    def __init__(self) -> None:
        self._kv: KeyValue | None = None
        self._watched: WatchedRecords[Token] | None = None

    async def open(self, bus: Bus, *, replicas: int) -> None:
        """Start following the bucket. Returns once the copy is complete."""
        self._kv = await open_bucket(bus.js, names.KV_TOKENS, replicas=replicas)
        self._watched = await bus.follow(names.KV_TOKENS, Token)

    async def check(self) -> None:
        """Raise unless the bucket is readable."""
        await self._records().get("0" * 64)

    async def bootstrap(self, digest: str, tenant: str) -> None:
        """Store the first token. An existing record is left unchanged, even if it is revoked."""
        first = Token(tenant=tenant, label="bootstrap", created_at=datetime.now(UTC))
        await self._records().modify(digest.lower(), lambda known: known or first)

    async def find(self, secret: str) -> Token | None:
        """Returns the record of a valid token, or None."""
        if not secret.startswith(TOKEN_PREFIX) or len(secret) > TOKEN_CHARS_MAX:
            return None
        digest = hashlib.sha256(secret.encode()).hexdigest()
        records = self._records()
        # The copy may lag behind: an unknown token may be new.
        token = (self._watched and self._watched.get(digest)) or await _read(records, digest)
        return token if token and token.revoked_at is None else None

    def _records(self) -> Records[Token]:
        if self._kv is None or self._watched is None:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The gateway is not connected to NATS yet.",
                "Retry in a few seconds.",
            )
        return Records(self._kv, Token)


async def _read(records: Records[Token], digest: str) -> Token | None:
    try:
        async with asyncio.timeout(LOOKUP_TIMEOUT_S):
            return await records.get(digest)
    except ValidationError as error:
        log.error("cannot read the record of a token: %s", error)  # noqa: TRY400 - the text says it all
        return None
    except (NatsError, TimeoutError) as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE,
            "The token cannot be checked: NATS is not reachable.",
            "Retry in a few seconds.",
        ) from error


class BearerAuth:
    """ASGI middleware: guarded paths need a token. Its record is stored in the request's state."""

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

    async def _identify(self, header: str) -> Token:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise _unauthenticated("This endpoint needs a token.")
        token = await self._tokens.find(secret.strip())
        if token is None:
            raise _unauthenticated("The token is unknown or revoked.")
        return token


def _is_guarded(path: str) -> bool:
    return path.startswith(GUARDED_PATHS) and path not in OPEN_PATHS


def _unauthenticated(message: str) -> PrismError:
    return PrismError(
        ErrorCode.UNAUTHENTICATED,
        message,
        "Send `Authorization: Bearer prism_…`. `prism connect` prints a client configuration with a token.",
    )


def caller_of(request: HTTPConnection) -> Token:
    """Returns the token of a guarded request."""
    caller = request.scope["state"][STATE_KEY]
    assert isinstance(caller, Token)
    return caller
