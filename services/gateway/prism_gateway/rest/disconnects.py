"""Ends the work for a request whose caller has left. uvicorn runs a route to its end, whether anyone waits or not."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from prism_runtime.tasks import running


class Unanswered(Response):
    """The response to a caller who has left: nothing is sent, so the request is counted and logged as left."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send nothing."""


async def answered_unless_left(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """Returns the response of the work, or cancels it when the caller disconnects.

    The body of the request must have been read.
    """
    async with running(work) as working, running(_left(request)) as leaving:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else Unanswered()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
