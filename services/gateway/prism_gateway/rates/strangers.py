"""Limits on requests without a valid token, per address and in memory: they need no state that is shared."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from prism_contracts.errors import ErrorCode, PrismError

WINDOW_S = 60.0
ADDRESSES_MAX = 10_000


class Strangers:
    """The refused requests of each address in the current minute of that address."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._windows: OrderedDict[str, tuple[float, int]] = (
            OrderedDict()
        )  # (end, requests), the oldest first

    def count(self, address: str) -> None:
        """Count a request that identified no one. Raises RATE_LIMITED beyond the limit."""
        now = self._clock()
        ends_at, requests = self._windows.get(address, (0.0, 0))
        if ends_at <= now:
            self._windows.pop(address, None)
            ends_at, requests = now + WINDOW_S, 0
        self._windows[address] = (ends_at, requests + 1)
        if len(self._windows) > ADDRESSES_MAX:
            self._windows.popitem(last=False)
        if requests >= self._per_minute:
            after_s = math.ceil(ends_at - now)
            raise PrismError(
                ErrorCode.RATE_LIMITED,
                f"This address sent {requests} requests without a valid token within a minute.",
                f"Send a valid token, or retry in {after_s} s.",
                retry_after_s=after_s,
                limit=self._per_minute,
            )
