"""The HTTP app of a process that starts, serves, and is about to end."""

import asyncio
from contextlib import suppress
from enum import Enum, auto
from http import HTTPStatus

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_runtime.health import LIVE_PATH, METRICS_PATH, READY_PATH

CLOSE = (b"connection", b"close")
HEALTH_PATHS = frozenset({LIVE_PATH, READY_PATH, METRICS_PATH})
# How long a request waits for the start: records open within a second, or some on a busy machine. Then the app
# answers that it is not connected.
START_PATIENCE_S = 10.0


class Phase(Enum):
    """What a process does now."""

    STARTING = auto()
    SERVING = auto()
    STOPPING = auto()


class StoppableApp:
    """An HTTP app that knows whether its process starts or stops.

    While the process starts, `/readyz` answers 503, even if every check passes: a service that is connected has not
    subscribed yet, and a roll must not end the other copy. Requests to other paths wait for the end of the start:
    a client that meets a gateway as it restarts gets its answer a moment later instead of an error.

    While it stops, `/readyz` answers 503, so that proxies choose another copy, and every other request is
    answered as before. Each answer closes its connection: the client's next request opens one elsewhere.
    """

    def __init__(self, app: ASGIApp, *, start_patience_s: float = START_PATIENCE_S) -> None:
        self._app = app
        self._start_patience_s = start_patience_s
        self._phase = Phase.STARTING
        self._started = asyncio.Event()

    @property
    def phase(self) -> Phase:
        """What the process does now."""
        return self._phase

    @phase.setter
    def phase(self, phase: Phase) -> None:
        self._phase = phase
        if phase is not Phase.STARTING:
            self._started.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if self.phase is Phase.STOPPING and message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), CLOSE]
            await send(message)

        if scope["path"] not in HEALTH_PATHS:
            await self._wait_for_start()
        await self._app_for(scope["path"])(scope, receive, answer)

    async def _wait_for_start(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._start_patience_s):
                await self._started.wait()

    def _app_for(self, path: str) -> ASGIApp:
        if path != READY_PATH or self.phase is Phase.SERVING:
            return self._app
        return STOPPING if self.phase is Phase.STOPPING else self._not_started

    async def _not_started(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does if a check fails, which explains why the start takes long."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, keep)
        if messages[0]["status"] == HTTPStatus.OK:
            await STARTING(scope, receive, send)
            return
        for message in messages:
            await send(message)


STARTING = JSONResponse({"status": "starting", "checks": {}}, status_code=HTTPStatus.SERVICE_UNAVAILABLE)
STOPPING = JSONResponse({"status": "stopping", "checks": {}}, status_code=HTTPStatus.SERVICE_UNAVAILABLE)
