"""Places for packs that wait in this process: a client that sends faster than its tenant's files are indexed
waits, and its packs do not stand in front of other tenants' packs.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from prism_contracts.errors import ErrorCode, PrismError

# Received or admitted packs of one tenant. `prism index` sends up to 2 MiB of text in each.
PACKS_OF_TENANT_MAX: Final = 8
# Shorter than the gateway waits for an answer.
ADMISSION_WAIT_S: Final = 8.0
LOOK_S: Final = 0.1
# After its admission, a pack is uploaded and passes the stream. If it takes longer, it counts on arrival.
ARRIVES_WITHIN_S: Final = 10.0
RETRY_AFTER_S: Final = 1


class PackPlaces:
    """The packs of each tenant that are on their way to this process, or in it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: Counter[str] = Counter()
        self._admitted: dict[str, deque[float]] = {}  # when each expected pack was admitted

    async def admit(self, tenant: str, wait_s: float = ADMISSION_WAIT_S) -> None:
        """Wait until the tenant has a free place, and keep it for a pack. Raises RATE_LIMITED after `wait_s`."""
        ends_at = self._clock() + wait_s
        while self._taken(tenant) >= PACKS_OF_TENANT_MAX:
            if self._clock() >= ends_at:
                raise PrismError(
                    ErrorCode.RATE_LIMITED,
                    f"{PACKS_OF_TENANT_MAX} packs already wait to be indexed.",
                    "Send the same pack again in a second.",
                    retry_after_s=RETRY_AFTER_S,
                )
            await asyncio.sleep(LOOK_S)
        self._admitted.setdefault(tenant, deque()).append(self._clock())

    @asynccontextmanager
    async def held(self, tenant: str) -> AsyncIterator[None]:
        """Count a pack that has arrived, until it is done."""
        if self._expected(tenant):
            self._admitted[tenant].popleft()
        self._held[tenant] += 1
        try:
            yield
        finally:
            self._held[tenant] -= 1
            self._held = +self._held

    def _taken(self, tenant: str) -> int:
        return self._held[tenant] + self._expected(tenant)

    def _expected(self, tenant: str) -> int:
        """Returns how many admitted packs of a tenant have not arrived."""
        admitted = self._admitted.get(tenant, deque())
        while admitted and admitted[0] <= self._clock() - ARRIVES_WITHIN_S:
            admitted.popleft()
        if not admitted:
            self._admitted.pop(tenant, None)
        return len(admitted)
