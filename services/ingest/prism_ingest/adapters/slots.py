"""Slots that tenants share fairly, so that work on a slow server leaves room for other tenants."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple


class SlotLimits(NamedTuple):
    """The maximum number of slots held at once."""

    total: int
    of_tenant: int
    of_server: int  # of one tenant at one server


class _Wait(NamedTuple):
    tenant: str
    server: str
    granted: asyncio.Future[None]


class Slots:
    """Slots for work. A free slot goes to the tenant that holds the fewest, in order of arrival."""

    def __init__(self, limits: SlotLimits) -> None:
        self._limits = limits
        self._by_tenant: Counter[str] = Counter()
        self._by_server: Counter[tuple[str, str]] = Counter()
        self._waiting: list[_Wait] = []

    @asynccontextmanager
    async def held(self, tenant: str, server: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it."""
        wait = _Wait(tenant, server, asyncio.get_running_loop().create_future())
        self._waiting.append(wait)
        self._grant()
        try:
            await wait.granted
            yield
        finally:
            self._leave(wait)

    def _leave(self, wait: _Wait) -> None:
        if wait in self._waiting:  # cancelled before it was granted
            self._waiting.remove(wait)
            return
        self._by_tenant[wait.tenant] -= 1
        self._by_server[wait.tenant, wait.server] -= 1
        self._by_tenant, self._by_server = +self._by_tenant, +self._by_server
        self._grant()

    def _grant(self) -> None:
        while self._by_tenant.total() < self._limits.total:
            fitting = [wait for wait in self._waiting if self._fits(wait)]
            if not fitting:
                return
            wait = min(fitting, key=lambda one: self._by_tenant[one.tenant])
            self._waiting.remove(wait)
            self._by_tenant[wait.tenant] += 1
            self._by_server[wait.tenant, wait.server] += 1
            wait.granted.set_result(None)

    def _fits(self, wait: _Wait) -> bool:
        return (
            not wait.granted.done()
            and self._by_tenant[wait.tenant] < self._limits.of_tenant
            and self._by_server[wait.tenant, wait.server] < self._limits.of_server
        )
