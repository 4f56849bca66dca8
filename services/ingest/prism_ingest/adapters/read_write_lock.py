"""What many read at once while one adds to it, and what is taken away or replaced only when nobody reads it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ReadWriteLock:
    """Who uses one such thing. Whoever wants it alone holds `adding` already."""

    def __init__(self) -> None:
        self.adding = asyncio.Lock()
        self._door = asyncio.Lock()
        self._readers = 0
        self._unread = asyncio.Event()
        self._unread.set()

    @property
    def is_used(self) -> bool:
        """Whether anybody reads it or adds to it."""
        return self.adding.locked() or self._readers > 0

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """It stays what and where it is; there may be more of it at the end."""
        async with self._door:
            self._readers += 1
            self._unread.clear()
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._unread.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Nobody reads it: those who do are waited for, those who come later wait."""
        async with self._door:
            await self._unread.wait()
            yield
