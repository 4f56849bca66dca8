"""Sign-in and sign-out: with a developer token, or with a one-time code of `prism open`."""

import time
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from prism_contracts.errors import ErrorCode, PrismError, http_status
from prism_contracts.token_secrets import PREFIX, digest_of
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.callers import address_of
from prism_gateway.console import same_origin
from prism_gateway.console.door import DOOR, LOGIN
from prism_gateway.console.page import body_of, form_fields, redirect, render
from prism_gateway.console.sessions import SESSION_S, Sessions
from prism_gateway.rates.strangers import Strangers
from prism_gateway.route_names import TEMPLATE_KEY

LOGOUT: Final = "/logout"


def routes(sessions: Sessions, strangers: Strangers) -> list[BaseRoute]:
    """Returns the routes of sign-in and sign-out."""
    sign_in = partial(_answer, sessions, strangers)
    return [
        Route(LOGIN, sign_in, methods=["GET", "POST"]),
        Route(LOGOUT, partial(_sign_out, sessions), methods=["POST"]),
    ]


async def _answer(sessions: Sessions, strangers: Strangers, request: Request) -> Response:
    """Show the form, or sign in. Every problem is shown above the form."""
    request.scope.setdefault("state", {})[TEMPLATE_KEY] = LOGIN
    began = time.perf_counter()
    wanted, code = request.query_params.get("next", ""), request.query_params.get("code", "")
    try:
        _check_connection(request)
        if request.method == "POST":
            fields = dict(await form_fields(request))
            wanted, code = fields.get("next", ""), fields.get("code", "")
            secret = await _sign_in(sessions, request, fields)
        elif code and request.headers.get("sec-fetch-site") == "none":
            secret = await _redeem(sessions, code)
        else:
            return render(request, "login.html", wanted=wanted, code=code, error=None)
    except Exception as error:  # noqa: BLE001 - every error is shown
        body = body_of(error)
        if body.code is ErrorCode.UNAUTHENTICATED:
            try:
                strangers.count(address_of(request.scope))
            except PrismError as too_many:
                body = too_many.body
        request.app.state.parts.usage.count(None, CallFacts(call=DOOR, code=body.code.value), began)
        status = 403 if body.code is ErrorCode.UNAUTHENTICATED else http_status(body.code)
        return render(request, "login.html", status=status, wanted=wanted, code="", error=body)
    response = redirect(same_origin.local_path(wanted))
    response.set_cookie(
        _cookie(request),
        secret,
        max_age=SESSION_S,
        path="/",
        secure=_is_secure(request),
        httponly=True,
        samesite="lax",
    )
    return response


async def _sign_out(sessions: Sessions, request: Request) -> Response:
    await sessions.end(request.cookies.get(_cookie(request), ""))
    response = redirect(LOGIN)
    response.delete_cookie(
        _cookie(request), path="/", secure=_is_secure(request), httponly=True, samesite="lax"
    )
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
