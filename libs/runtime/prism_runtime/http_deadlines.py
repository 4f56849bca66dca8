"""Closes HTTP connections that make no progress. uvicorn itself waits for the rest of a request for ever.

The head of a request must be complete within `HEAD_SECONDS` of the connection, or of the first byte of a
further request. While a client sends a body, data must arrive every `BODY_SECONDS`. Responses have no limit:
a stream of events may stay open.
"""

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 15.0
BODY_SECONDS = 30.0


class DeadlineProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with a time limit on each part of a request."""

    head_seconds = HEAD_SECONDS
    body_seconds = BODY_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._progress_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected: the head of its request is due."""
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """The first byte of a request arrived."""
        super().on_message_begin()
        self._wait_for_head()

    def on_headers_complete(self) -> None:
        """The head is complete; a body may follow."""
        super().on_headers_complete()
        self._progress_at = time.monotonic()
        self._restart(self.body_seconds, self._look_at_body)

    def on_body(self, body: bytes) -> None:
        """A part of the body arrived."""
        super().on_body(body)
        self._progress_at = time.monotonic()

    def on_message_complete(self) -> None:
        """The request is complete."""
        super().on_message_complete()
        self._stop()

    def _wait_for_head(self) -> None:
        self._restart(self.head_seconds, self._close)

    def _look_at_body(self) -> None:
        # While the application does not read, the client cannot send: the delay is not its fault.
        idle = 0.0 if self.flow.read_paused else time.monotonic() - self._progress_at
        if idle >= self.body_seconds:
            self._close()
        else:
            self._restart(self.body_seconds - idle, self._look_at_body)

    def _restart(self, seconds: float, then: Any) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, then)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._timer = None
        self.transport.close()
