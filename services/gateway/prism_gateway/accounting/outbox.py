"""Sends messages to a stream without holding up calls: at once if it can, else in the background."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import NamedTuple

from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from prism_contracts.errors import reason_of
from prism_runtime.bus import Bus
from prism_runtime.tasks import running

SEND_TIMEOUT_S = 2.0
RETRIED_EVERY_S = 2.0
WAITING_MAX = 10_000

log = logging.getLogger(__name__)


class Outgoing(NamedTuple):
    """A message. NATS stores it once if it is sent again within the stream's duplicate window."""

    subject: str
    id: str
    body: bytes


class SendOutcome(StrEnum):
    """What became of an attempt to send a message."""

    STORED = "stored"
    DELAYED = "delayed"  # NATS did not answer; it is sent again until it does
    LOST = "lost"  # more waited than fit in memory, or the gateway stopped


class Outbox:
    """Messages on their way to a stream."""

    def __init__(self, on_outcome: Callable[[SendOutcome, Outgoing], None]) -> None:
        self._on_outcome = on_outcome
        self._js: JetStreamContext | None = None
        self._waiting: deque[Outgoing] = deque()
        self._is_waiting = asyncio.Event()

    @property
    def js(self) -> JetStreamContext | None:
        """The connection, once it is open."""
        return self._js

    def open(self, bus: Bus) -> None:
        """Begin to send."""
        self._js = bus.broker.connection.jetstream()

    async def send(self, message: Outgoing, timeout_s: float = SEND_TIMEOUT_S) -> bool:
        """Try once. Returns whether the message is stored; never fails."""
        if self._js is None:
            return False
        try:
            await self._js.publish(
                message.subject, message.body, timeout=timeout_s, headers={"Nats-Msg-Id": message.id}
            )
        except (NatsError, TimeoutError) as error:
            self._on_outcome(SendOutcome.DELAYED, message)
            log.warning("cannot store a message of %s: %s", message.subject, reason_of(error))
            return False
        self._on_outcome(SendOutcome.STORED, message)
        return True

    def add(self, message: Outgoing) -> None:
        """Send a message in the background."""
        if len(self._waiting) >= WAITING_MAX:
            self._on_outcome(SendOutcome.LOST, self._waiting.popleft())
        self._waiting.append(message)
        self._is_waiting.set()

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Send waiting messages during a block, and at its end."""
        async with running(self._send_waiting()):
            yield
        await self.flush()
        while self._waiting:
            self._on_outcome(SendOutcome.LOST, self._waiting.popleft())

    async def flush(self) -> bool:
        """Send the waiting messages, the oldest first. Returns whether all are stored."""
        while self._waiting:
            message = self._waiting[0]
            if not await self.send(message):
                return False
            if self._waiting and self._waiting[0] is message:  # or it was lost, or another flush sent it
                self._waiting.popleft()
        return True

    async def _send_waiting(self) -> None:
        while True:
            await self._is_waiting.wait()
            if await self.flush():
                self._is_waiting.clear()
            else:
                await asyncio.sleep(RETRIED_EVERY_S)
