"""Limits on request bodies by path, checked against the declared length and while the body is read."""

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_contracts.errors import ErrorBody, ErrorCode
from prism_gateway.rest.errors import error_response
from prism_gateway.settings import GatewaySettings

TOO_LARGE = 413
# Digits of a declared length: a longer number is too large in any case.
DIGITS_MAX = 20


def limits_of(settings: GatewaySettings) -> Callable[[str], int]:
    """Returns the largest body of a path, in bytes."""
    limits = {
        "/mcp": settings.mcp_bytes_max,
        "/ingest/snapshots": settings.snapshot_bytes_max,
        "/ingest/file": settings.edit_bytes_max,
        "/ingest/diff": settings.edit_bytes_max,
        "/overlays": settings.edit_bytes_max,
        "/documents/files": settings.edit_bytes_max,
        "/ingest/webhook": settings.webhook_bytes_max,
        "/ingest/scip": settings.scip_bytes_max,
        "/packs": settings.pack_bytes_max,
    }

    def limit(path: str) -> int:
        return next((most for end, most in limits.items() if path.endswith(end)), settings.json_bytes_max)

    return limit


class BodyLimit:
    """ASGI middleware that refuses bodies over the limit of their path."""

    def __init__(self, app: ASGIApp, limit_of: Callable[[str], int]) -> None:
        self._app = app
        self._limit_of = limit_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413, or forward the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        bytes_max = self._limit_of(scope["path"])
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared[:DIGITS_MAX]) > bytes_max:
            await error_response(_too_large(bytes_max))(scope, receive, send)
            return
        await self._app(scope, _counted(receive, bytes_max), send)


def _counted(receive: Receive, bytes_max: int) -> Receive:
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > bytes_max:
            # FastAPI forwards only this error type while it reads a body.
            raise HTTPException(TOO_LARGE, f"the body exceeds the limit of {bytes_max} bytes")
        return message

    return counted


def _too_large(bytes_max: int) -> ErrorBody:
    return ErrorBody(
        code=ErrorCode.PAYLOAD_TOO_LARGE,
        message=f"The body exceeds the limit of {bytes_max} bytes.",
        next_action="Send a smaller body.",
        details={"limit_bytes": bytes_max},
    )
