"""The door of the console: security headers, the check of where a change comes from, and the session's caller."""

import time
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.accounting.usage import UsageLog
from prism_gateway.callers import STATE_KEY, Caller, address_of
from prism_gateway.console.page import FRAGMENT_HEADER, body_of, cookie_of, redirect, show_error
from prism_gateway.console.same_origin import SAFE_METHODS, is_same_origin
from prism_gateway.console.sessions import Sessions
from prism_gateway.rates.strangers import Strangers
from prism_gateway.settings import GatewaySettings

LOGIN: Final = "/login"
# The first parts of the addresses of pages. The empty one is the first page.
GUARDED: Final = frozenset(
    {"", "repos", "search", "r", "documents", "tasks", "wiki", "usage", "audit", "tokens", "health", "logout"}
)
OPEN: Final = frozenset({"login", "assets"})
DOOR: Final = "console"  # in usage
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FROM_ELSEWHERE: Final = ErrorBody(
    code=ErrorCode.FORBIDDEN,
    message="This request came from another site, so nothing was changed.",
    next_action="Open the console itself, and repeat what you did there.",
)


class ConsoleDoor:
    """ASGI middleware: pages need a session. Its caller is stored in the request's state, as that of a token is."""

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        strangers: Strangers,
        usage: UsageLog,
        settings: GatewaySettings,
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._strangers = strangers
        self._usage = usage
        self._public_url = settings.public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or forward the request."""
        if scope["type"] != "http" or not is_of_console(scope["path"]):
            await self._app(scope, receive, send)
            return
        sending, headers = with_headers(send), Headers(scope=scope)
        if scope["method"] not in SAFE_METHODS and not is_same_origin(headers, self._public_url):
            await show_error(Request(scope), FROM_ELSEWHERE)(scope, receive, sending)
            return
        if _first_part(scope["path"]) in GUARDED:
            refused = await self._admit(scope)
            if refused:
                await refused(scope, receive, sending)
                return
        await self._app(scope, receive, sending)

    async def _admit(self, scope: Scope) -> Response | None:
        """Store the caller of the session; returns an answer instead if there is none."""
        request, began = Request(scope), time.perf_counter()
        try:
            caller = await self._caller(request)
        except Exception as error:  # noqa: BLE001 - every error is a page
            body = body_of(error)
            self._usage.count(None, CallFacts(call=DOOR, code=body.code.value), began)
            return show_error(request, body)
        if caller is None:
            self._usage.count(None, CallFacts(call=DOOR, code=ErrorCode.UNAUTHENTICATED.value), began)
            return _sign_in_first(request)
        scope.setdefault("state", {})[STATE_KEY] = caller
        return None

    async def _caller(self, request: Request) -> Caller | None:
        """Returns who is signed in. Raises RATE_LIMITED for an address that sends many cookies that are not valid."""
        cookie = cookie_of(request, self._public_url)
        if not cookie:
            return None
        caller = await self._sessions.caller(cookie)
        if caller is None:
            self._strangers.count(address_of(request.scope))
        return caller


def is_of_console(path: str) -> bool:
    """Whether a path belongs to the console."""
    return _first_part(path) in GUARDED | OPEN


def with_headers(send: Send) -> Send:
    """Returns `send` with the security headers of pages."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending


def _first_part(path: str) -> str:
    return path[1:].partition("/")[0]


def _sign_in_first(request: Request) -> Response:
    """Returns the way to the sign-in. A script gets 401, and loads the page again."""
    if FRAGMENT_HEADER in request.headers or request.method not in SAFE_METHODS:
        error = PrismError(ErrorCode.UNAUTHENTICATED, "You are signed out.", "Sign in again.")
        return show_error(request, error.body)
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return redirect(LOGIN if wanted == "/" else f"{LOGIN}?next={quote(wanted, safe='/')}")
