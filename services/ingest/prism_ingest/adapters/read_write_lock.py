"""A lock for a thing that many read while one writer adds to it, and that is replaced without readers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ReadWriteLock:
    """Readers, one writer that adds, and exclusive access. Hold `adding` before `alone`."""

    def __init__(self) -> None:
        self.adding = asyncio.Lock()
        self._door = asyncio.Lock()
        self._readers = 0
        self._unread = asyncio.Event()
        self._unread.set()

    @property
    def is_used(self) -> bool:
        """Whether it has a reader or a writer."""
        return self.adding.locked() or self._readers > 0

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Hold it for reading: it is neither replaced nor deleted, but it may grow."""
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
        """Hold it exclusively: wait for current readers, and make later readers wait."""
        async with self._door:
            await self._unread.wait()
            yield
