"""How a service stops without losing work: it accepts nothing new, finishes the calls that run, and answers those
that take too long with an error.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from faststream.nats.subscriber.usecases.core_subscriber import ConcurrentCoreSubscriber

from prism_contracts.errors import ErrorCode, PrismError

# How long a stopping service works on what it has begun.
FINISH_S = 10
# How long what was cut short may take to say so.
CUT_SHORT_S = 2


class Calls:
    """The running calls of a service, which it can cut short when it stops."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._open: set[asyncio.Timeout] = set()
        self._is_over = False

    @asynccontextmanager
    async def within(self, seconds: float | None) -> AsyncIterator[None]:
        """Run a call in a block, for up to so many seconds. None: as long as it takes.

        Raises TimeoutError, and PrismError (UNAVAILABLE) if the service cuts its calls short.
        """
        if self._is_over:
            raise self._stopping()
        try:
            async with asyncio.timeout(seconds) as limit:
                self._open.add(limit)
                try:
                    yield
                finally:
                    self._open.discard(limit)
        except TimeoutError as error:
            if self._is_over:
                raise self._stopping() from error
            raise

    def cut_short(self) -> None:
        """End all calls now, and those that begin later."""
        self._is_over = True
        now = asyncio.get_running_loop().time()
        for limit in self._open:
            with suppress(RuntimeError):  # it is expiring already
                limit.reschedule(now)

    def _stopping(self) -> PrismError:
        return PrismError(
            ErrorCode.UNAVAILABLE,
            f"This copy of the {self._service} service is stopping.",
            "Retry: another copy answers, or this one when it is back.",
        )


async def finish_requests(subscriber: ConcurrentCoreSubscriber) -> None:
    """Take no more requests, and return when those that arrived are answered.

    FastStream's own `stop` drops the requests that arrive while others are answered: their callers would wait
    until they time out.
    """
    subscription: Any = subscriber.subscription
    if subscription is None:
        return
    subscriber.subscription = None  # FastStream need not end it again
    await subscription.drain()
    subscriber.send_stream.close()  # the subscriber's task ends with the last request in the stream
    await asyncio.wait(subscriber.tasks)
