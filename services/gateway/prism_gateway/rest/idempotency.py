"""`Idempotency-Key`: a request that makes something can be repeated, and takes effect once.

The semantics follow the draft https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header.
"""

import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, cast

from fastapi import Depends, Header, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from prism_gateway.accounting.facts import facts_of
from prism_gateway.callers import caller_of
from prism_gateway.kept_requests import KeptRequests, KeptResponse, KeyedRequest
from prism_gateway.rest.dependencies import check_route
from prism_gateway.rest.replies import JSON

KEY_CHARS_MAX = 255
KEY_PATTERN = r"^[!-~]{1,255}$"
HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
SUCCESS = range(200, 300)

Handle = Callable[[Request], Coroutine[Any, Any, Response]]


async def _key(
    _: Annotated[
        str | None,
        Header(
            alias=HEADER,
            max_length=KEY_CHARS_MAX,
            pattern=KEY_PATTERN,
            description="A random id, for example a UUID. A repetition with the same key and body within 24 hours "
            "gets the same answer, and does nothing.",
        ),
    ] = None,
) -> None:
    """Declares the header. `IdempotentRoute` reads it."""


IDEMPOTENT = Depends(_key)


class IdempotentRoute(APIRoute):
    """A route that honours the header if `IDEMPOTENT` is one of its dependencies."""

    def get_route_handler(self) -> Handle:
        """Returns the handler of the route."""
        handle = super().get_route_handler()
        return _idempotent(handle) if IDEMPOTENT in self.dependencies else handle


def _idempotent(handle: Handle) -> Handle:
    async def handle_once(request: Request) -> Response:
        key = request.headers.get(HEADER, "")
        if not re.fullmatch(KEY_PATTERN, key):
            return await handle(request)  # it refuses an invalid key
        await check_route(request)
        kept = cast("KeptRequests", request.app.state.parts.kept_requests)
        begun = await kept.begin(await _keyed(request, key))
        if isinstance(begun, KeptResponse):
            facts_of(request).is_repeated = True
            headers = {REPLAYED: "true", "Cache-Control": "no-store"}
            return Response(begun.body, begun.status, headers, JSON)
        try:
            response = await handle(request)
        except BaseException:
            await begun.give_up()
            raise
        if response.status_code in SUCCESS:
            await begun.succeed(response.status_code, bytes(response.body))
        else:
            await begun.give_up()
        return response

    return handle_once


async def _keyed(request: Request, key: str) -> KeyedRequest:
    return KeyedRequest(
        caller=f"{caller_of(request).tenant} {caller_of(request).id}",
        key=key,
        token=request.headers["Authorization"],
        content=(
            request.method.encode(),
            request.url.path.encode(),
            request.url.query.encode(),
            request.headers.get("X-Prism-Repo", "").encode(),
            await request.body(),
        ),
    )
