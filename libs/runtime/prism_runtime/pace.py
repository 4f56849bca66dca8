"""Groups publishes, so that many messages go out together.

A single message costs sender, server and receiver a write, a read and a wake-up each. Ten messages at once
share them: 0.7 and 0.25 ms of CPU per message in the client and in nats-server, instead of 1.3 and 0.6.
"""

import asyncio


class PublishGate:
    """A gate that opens at most every `distance_s` seconds, and at once after a pause."""

    def __init__(self, distance_s: float) -> None:
        self._distance_s = distance_s
        self._opens_at_s = 0.0  # on the clock of the event loop
        self._gate: asyncio.Event | None = None

    async def wait(self) -> None:
        """Return when the gate opens, together with all other waiting callers."""
        loop = asyncio.get_running_loop()
        if self._gate is None:
            if loop.time() >= self._opens_at_s:
                self._opens_at_s = loop.time() + self._distance_s
                return
            self._gate = asyncio.Event()
            loop.call_at(self._opens_at_s, self._open)
        await self._gate.wait()

    def _open(self) -> None:
        self._opens_at_s += self._distance_s
        if self._gate is not None:
            self._gate.set()
            self._gate = None
