"""Fair turns between tenants: a tenant that floods Prism slows down itself only.

A tenant that asks alone may have every turn. While others ask too, each has a few turns at once, and the rest
of its questions wait in a queue of its own. A free turn goes to the tenant with the fewest.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError

# How long after its last question a tenant counts as active.
ASKING_S = 5.0
RETRY_AFTER_S = 1


class TurnLimits(NamedTuple):
    """Limits on questions in progress and waiting."""

    total: int
    of_tenant_shared: int  # per tenant, while others ask too
    queued_of_tenant: int
    queue_s: float  # longest wait in the queue


class Turns:
    """The turns of one event loop."""

    def __init__(self, limits: TurnLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._working: Counter[str] = Counter()
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        self._asked_at: dict[str, float] = {}

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """Hold a turn.

        Raises RATE_LIMITED if too many questions of the tenant wait, or this one waited too long.
        """
        self._note(tenant)
        if tenant in self._queues or not self._may_begin(tenant):
            await self._wait(tenant)
        else:
            self._working[tenant] += 1
        try:
            yield
        finally:
            self._give_back(tenant)

    def _give_back(self, tenant: str) -> None:
        self._working[tenant] -= 1
        if not self._working[tenant]:
            del self._working[tenant]
        self._hand_on()

    async def _wait(self, tenant: str) -> None:
        queue = self._queues.setdefault(tenant, deque())
        if len(queue) >= self._limits.queued_of_tenant:
            raise _too_many(len(queue))
        mine = asyncio.get_running_loop().create_future()
        queue.append(mine)
        try:
            async with asyncio.timeout(self._limits.queue_s):
                await mine
        except BaseException as error:
            self._leave(tenant, mine)
            if mine.done() and not mine.cancelled():  # the turn was granted at the same moment
                self._give_back(tenant)
            if isinstance(error, TimeoutError):
                raise _too_many(len(self._queues.get(tenant, ()))) from None
            raise

    def _leave(self, tenant: str, mine: asyncio.Future[None]) -> None:
        queue = self._queues.get(tenant, deque())
        if mine in queue:
            queue.remove(mine)
            if not queue:
                del self._queues[tenant]

    def _hand_on(self) -> None:
        """Grant free turns to waiting questions, the tenant with the fewest turns first."""
        while waiting := [tenant for tenant in self._queues if self._may_begin(tenant)]:
            tenant = min(waiting, key=lambda one: self._working[one])
            queue = self._queues[tenant]
            first = queue.popleft()
            if not queue:
                del self._queues[tenant]
            if not first.done():  # otherwise its caller has gone
                first.set_result(None)
                self._working[tenant] += 1

    def _may_begin(self, tenant: str) -> bool:
        if self._working.total() >= self._limits.total:
            return False
        return self._working[tenant] < self._limits.of_tenant_shared or self._is_alone(tenant)

    def _is_alone(self, tenant: str) -> bool:
        since = self._clock() - ASKING_S
        return (
            self._working.total() == self._working[tenant]
            and self._queues.keys() <= {tenant}
            and all(at < since for other, at in self._asked_at.items() if other != tenant)
        )

    def _note(self, tenant: str) -> None:
        now = self._clock()
        self._asked_at.pop(tenant, None)
        self._asked_at[tenant] = now  # the newest is at the end
        while (oldest := next(iter(self._asked_at))) != tenant and self._asked_at[oldest] < now - ASKING_S:
            del self._asked_at[oldest]


class Waiters:
    """Counts the requests of each tenant that wait for a commit or follow a job. They hold no turn."""

    def __init__(self, of_tenant_max: int) -> None:
        self._of_tenant_max = of_tenant_max
        self._waiting: Counter[str] = Counter()

    @asynccontextmanager
    async def place(self, tenant: str) -> AsyncIterator[None]:
        """Hold a place. Raises RATE_LIMITED if the tenant has none left."""
        if self._waiting[tenant] >= self._of_tenant_max:
            raise PrismError(
                ErrorCode.RATE_LIMITED,
                f"{self._of_tenant_max} requests already wait.",
                "Retry when some of them are answered, or without wait_for_commit.",
                retry_after_s=RETRY_AFTER_S,
            )
        self._waiting[tenant] += 1
        try:
            yield
        finally:
            self._waiting[tenant] -= 1
            if not self._waiting[tenant]:
                del self._waiting[tenant]


def _too_many(queued: int) -> PrismError:
    return PrismError(
        ErrorCode.RATE_LIMITED,
        f"{queued} questions already wait for their turn.",
        f"Retry in {RETRY_AFTER_S} s, with fewer questions at once.",
        retry_after_s=RETRY_AFTER_S,
    )
