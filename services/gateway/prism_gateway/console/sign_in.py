"""Sign-in and sign-out: with a developer token, a one-time code of `prism open`, or an identity provider."""

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, http_status
from prism_contracts.token_secrets import PREFIX, digest_of
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.callers import address_of
from prism_gateway.console import same_origin
from prism_gateway.console.door import DOOR, LOGIN
from prism_gateway.console.page import body_of, form_fields, redirect, render
from prism_gateway.console.sessions import SESSION_S, Sessions
from prism_gateway.rates.strangers import Strangers
from prism_gateway.route_names import TEMPLATE_KEY
from prism_gateway.signon.browser import ATTEMPT_S, DONE_PATH, SignOnAttempt
from prism_gateway.signon.door import SignOn

LOGOUT: Final = "/logout"
WANTED_KEY: Final = "wanted"
BEGIN: Final = "/login/provider/{number:int}"


class SignInDesk:
    """What signs people in and out."""

    def __init__(self, sessions: Sessions, strangers: Strangers, sign_on: SignOn) -> None:
        self.sessions = sessions
        self.sign_on = sign_on
        self._strangers = strangers

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the identity providers where people may sign in."""
        return self.sign_on.browser.hosts if self.sign_on.browser else ()

    async def attempt(self, request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        """Returns the answer to a request. Every problem is shown above the form, and counted."""
        request.scope.setdefault("state", {})[TEMPLATE_KEY] = LOGIN
        began = time.perf_counter()
        try:
            _check_connection(request)
            return await answer(request)
        except Exception as error:  # noqa: BLE001 - every error is shown
            body = body_of(error)
            if body.code is ErrorCode.UNAUTHENTICATED:
                try:
                    self._strangers.count(address_of(request.scope))
                except PrismError as too_many:
                    body = too_many.body
            request.app.state.parts.usage.count(None, CallFacts(call=DOOR, code=body.code.value), began)
            status = 403 if body.code is ErrorCode.UNAUTHENTICATED else http_status(body.code)
            return self.form(request, status=status, error=body)

    def form(
        self, request: Request, *, status: int = 200, code: str = "", error: ErrorBody | None = None
    ) -> Response:
        """Returns the page with the form."""
        wanted = request.scope["state"].get(WANTED_KEY, request.query_params.get("next", ""))
        return render(
            request, "login.html", status=status, wanted=wanted, code=code, error=error, hosts=self.hosts
        )


def routes(desk: SignInDesk) -> list[BaseRoute]:
    """Returns the routes of sign-in and sign-out."""
    ways = {LOGIN: _with_token, BEGIN: _begin, DONE_PATH: _finish} if desk.hosts else {LOGIN: _with_token}
    return [
        *(
            Route(
                path,
                partial(_answer, desk, partial(answer, desk)),
                methods=["GET", "POST"] if path == LOGIN else ["GET"],
            )
            for path, answer in ways.items()
        ),
        Route(LOGOUT, partial(_sign_out, desk.sessions), methods=["POST"]),
    ]


async def _answer(
    desk: SignInDesk, answer: Callable[[Request], Awaitable[Response]], request: Request
) -> Response:
    return await desk.attempt(request, answer)


async def _with_token(desk: SignInDesk, request: Request) -> Response:
    """Show the form, or sign in with a token or a code."""
    code = request.query_params.get("code", "")
    if request.method == "POST":
        fields = dict(await form_fields(request))
        request.scope["state"][WANTED_KEY] = fields.get("next", "")
        secret = await _sign_in(desk.sessions, request, fields)
        return _signed_in(request, secret, fields.get("next", ""))
    if code and request.headers.get("sec-fetch-site") == "none":
        return _signed_in(request, await _redeem(desk.sessions, code), request.query_params.get("next", ""))
    return desk.form(request, code=code)


async def _begin(desk: SignInDesk, request: Request) -> Response:
    """Send the browser to an identity provider."""
    assert desk.sign_on.browser is not None
    wanted = same_origin.local_path(request.query_params.get("next", ""))
    url, attempt = await desk.sign_on.browser.begin(request.path_params["number"], wanted)
    response = redirect(url)
    _set_cookie(request, response, _attempt_cookie(request), attempt.write(), max_age=ATTEMPT_S)
    return response


async def _finish(desk: SignInDesk, request: Request) -> Response:
    """Sign in whoever comes back from an identity provider."""
    attempt = SignOnAttempt.read(request.cookies.get(_attempt_cookie(request), ""))
    person = await desk.sign_on.finish(attempt, request.query_params)
    response = _signed_in(request, await desk.sessions.begin_for(person), attempt.wanted if attempt else "")
    _drop_cookie(request, response, _attempt_cookie(request))
    return response


async def _sign_out(sessions: Sessions, request: Request) -> Response:
    await sessions.end(request.cookies.get(_cookie(request), ""))
    response = redirect(LOGIN)
    _drop_cookie(request, response, _cookie(request))
    return response


async def _sign_in(sessions: Sessions, request: Request, fields: dict[str, str]) -> str:
    """Begin a session with what a form has. Returns the secret for its cookie."""
    if code := fields.get("code"):
        return await _redeem(sessions, code)
    token = fields.get("token", "")
    if not token.startswith(PREFIX) or await request.app.state.parts.tokens.find(token) is None:
        raise PrismError(
            ErrorCode.UNAUTHENTICATED,
            "The token is unknown, expired or revoked.",
            "Paste a whole token, `prism_…`. `prism tokens create` makes one.",
        )
    return await sessions.begin(digest_of(token))


async def _redeem(sessions: Sessions, code: str) -> str:
    secret = await sessions.redeem(code)
    if secret is None:
        raise PrismError(
            ErrorCode.UNAUTHENTICATED,
            "The link was used before, or is older than a minute.",
            "Run `prism open` again, or paste a token.",
        )
    return secret


def _signed_in(request: Request, secret: str, wanted: str) -> Response:
    response = redirect(same_origin.local_path(wanted))
    _set_cookie(request, response, _cookie(request), secret, max_age=SESSION_S)
    return response


def _set_cookie(request: Request, response: Response, name: str, value: str, *, max_age: int) -> None:
    response.set_cookie(
        name, value, max_age=max_age, path="/", secure=_is_secure(request), httponly=True, samesite="lax"
    )


def _drop_cookie(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(name, path="/", secure=_is_secure(request), httponly=True, samesite="lax")


def _check_connection(request: Request) -> None:
    public_url = request.app.state.settings.public_url
    if not same_origin.may_sign_in(request.url.scheme, request.headers.get("host", ""), public_url):
        raise PrismError(
            ErrorCode.FORBIDDEN,
            "This connection is not encrypted, so a token would be readable on the way.",
            "Open the console over https, or on the machine itself. Behind a proxy, set PRISM_PUBLIC_URL.",
        )


def _is_secure(request: Request) -> bool:
    return same_origin.is_secure(request.url.scheme, request.app.state.settings.public_url)


def _cookie(request: Request) -> str:
    return same_origin.cookie_name(is_secure=_is_secure(request))


def _attempt_cookie(request: Request) -> str:
    return same_origin.attempt_name(is_secure=_is_secure(request))
