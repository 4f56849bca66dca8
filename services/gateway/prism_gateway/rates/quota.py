"""One limit of one tenant or caller, as one gateway knows it.

A call takes a unit that the gateway has reserved in the shared counter. Reservations are exclusive, so no
interplay of gateways lets more through than the limit. The units of a busy caller are reserved ahead of its
calls, so most calls are decided in memory.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from prism_gateway.rates.counters import HOLD_S, Counter, Window

# The share of what is left that a gateway may reserve ahead, and the share of that at which it reserves more.
AHEAD_SHARE = 8
REFILL_SHARE = 2
# What is reserved of a window that does not slide stays usable, so this share is reserved whatever the calls.
KEPT_SHARE = 100
# A full quota is asked about again after this at the earliest.
FULL_S_MIN = 0.25
# How long decisions are made without the shared counter after it failed.
LOCAL_S = 1.0
WAITING_MAX = 1_000


class TakenUnit(NamedTuple):
    """A unit that a call took. `usable_until` is None if it was not reserved in the shared counter."""

    usable_until: float | None


class Quota:
    """A quota of an event loop."""

    def __init__(
        self,
        limit: int,
        window: Window,
        counter: Counter,
        on_local: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`on_local` is called for each decision without the shared counter."""
        self.limit = limit
        self._window = window
        self._counter = counter
        self._on_local = on_local
        self._clock = clock
        self._reserved: deque[tuple[float, int]] = deque()  # (usable until, units), the oldest first
        self._waiting: deque[asyncio.Future[TakenUnit | None]] = deque()
        self._filling: asyncio.Task[None] | None = None
        self._used, self._used_until = 0, 0.0  # by all gateways, as last read
        self._full_until = 0.0
        self._local_until = 0.0
        self._local_calls: deque[float] = deque()
        self._slot, self._calls, self._calls_before = 0, 0, 0

    def set_limit(self, limit: int) -> None:
        """Change the limit. A higher one admits calls at once, also if the old one was reached."""
        if limit > self.limit:
            self._full_until = 0.0
        self.limit = limit

    @property
    def remaining(self) -> int:
        """How many calls are left, as far as this gateway knows."""
        now = self._clock()
        if now < self._full_until:
            return 0
        return min(self.limit, max(0, self._left(now) - len(self._local_log(now))) + self._units())

    def refused_for_s(self) -> float:
        """Returns for how long calls are certainly refused, 0 if they may pass."""
        now = self._clock()
        if any(until > now for until, _ in self._reserved):
            return 0.0
        local = self._local_log(now)
        freed = local[0] + self._window.seconds if local and len(local) >= self.limit else 0.0
        return max(0.0, self._full_until - now, freed - now)

    def resets_in_s(self) -> float:
        """Returns after how many seconds none of the calls so far count, at most."""
        now = self._clock()
        return self._window.ends_at(now) - now

    def take_reserved(self) -> TakenUnit | None:
        """Take a unit that is reserved already."""
        now = self._clock()
        self._count(now)
        return self._pop(now)

    async def take(self) -> TakenUnit | None:
        """Take a unit, and wait for the shared counter if none is reserved. Returns None at the limit."""
        now = self._clock()
        if unit := self._pop(now):
            return unit
        if now < self._full_until or len(self._waiting) >= WAITING_MAX:
            return None
        if now < self._local_until:
            return self._take_locally(now)
        mine: asyncio.Future[TakenUnit | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        self._fill_soon()
        return await mine

    def give_back(self, unit: TakenUnit) -> None:
        """Return a unit whose call does not take place."""
        if unit.usable_until is not None:
            self._reserved.appendleft((unit.usable_until, 1))
        elif self._local_calls:
            self._local_calls.pop()

    def _count(self, now: float) -> None:
        """Count the calls of this and the last few seconds: as many are expected next."""
        slot = int(now // HOLD_S)
        if slot != self._slot:
            self._calls_before = self._calls if slot == self._slot + 1 else 0
            self._slot, self._calls = slot, 0
        self._calls += 1

    def _pop(self, now: float) -> TakenUnit | None:
        while self._reserved:
            until, units = self._reserved.popleft()
            if until <= now:
                continue  # not used in time; they count until they leave the window
            if units > 1:
                self._reserved.appendleft((until, units - 1))
            if self._units() < self._ahead(now) // REFILL_SHARE and now >= self._full_until:
                self._fill_soon()
            return TakenUnit(until)
        return None

    def _units(self) -> int:
        return sum(units for _, units in self._reserved)

    def _ahead(self, now: float) -> int:
        left = self._left(now)
        if not self._window.slides:
            return left // KEPT_SHARE
        expected = max(self._calls, self._calls_before) - 1
        return max(0, min(expected, left // AHEAD_SHARE))

    def _left(self, now: float) -> int:
        return self.limit - (self._used if now < self._used_until else 0)

    def _fill_soon(self) -> None:
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(self._fill())

    async def _fill(self) -> None:
        """Reserve units until no call waits, then some ahead."""
        while True:
            now = self._clock()
            if now < self._full_until:
                return self._answer_all(None)
            try:
                await self._reserve(now)
            except OSError:
                self._local_until = self._clock() + LOCAL_S
                while self._waiting:
                    self._answer(self._take_locally(self._clock()))
                return None
            while self._waiting and (unit := self._pop(self._clock())):
                self._answer(unit)
            if not self._waiting:
                return None

    async def _reserve(self, now: float) -> None:
        limit_before = self.limit
        limit = limit_before - len(self._local_log(now))
        wanted = min(len(self._waiting) + self._ahead(now), limit)
        found = await self._counter.reserve(wanted, limit) if wanted > 0 else None
        if found:
            self._used, self._used_until = found.used, self._window.ends_at(now)
        if found and found.granted:
            # From the time before they were reserved: the counter must remember them for longer.
            self._reserved.append((self._window.usable_until(now), found.granted))
        elif self.limit <= limit_before:
            later = self._clock()
            frees_at = min(found.frees_at, self._window.ends_at(later)) if found else 0.0
            self._full_until = max(frees_at, later + FULL_S_MIN)

    def _answer_all(self, unit: TakenUnit | None) -> None:
        while self._waiting:
            self._answer(unit)

    def _answer(self, unit: TakenUnit | None) -> None:
        first = self._waiting.popleft()
        if not first.done():
            first.set_result(unit)
        elif unit:  # its caller has gone
            self.give_back(unit)

    def _take_locally(self, now: float) -> TakenUnit | None:
        """Decide without the shared counter, by the calls of this gateway alone."""
        self._on_local()
        calls = self._local_log(now)
        if len(calls) >= self.limit:
            return None
        calls.append(now)
        return TakenUnit(None)

    def _local_log(self, now: float) -> deque[float]:
        while self._local_calls and self._local_calls[0] <= now - self._window.seconds:
            self._local_calls.popleft()
        return self._local_calls
