"""A lock for a thing that many read while one writer adds to it, and that is replaced without readers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiorwlock import RWLock


class ReadWriteLock:
    """Readers, one writer that adds, and exclusive access. Hold `adding` before `alone`.

    A task that reads must not ask for `alone`, and releases what it holds itself.
    """

    def __init__(self) -> None:
        self.adding = asyncio.Lock()
        self._lock = RWLock(fast=True)

    @property
    def is_used(self) -> bool:
        """Whether it has a reader or a writer."""
        return self.adding.locked() or self._lock.reader.locked

    # The methods hold this object: callers keep it in a weak dictionary, and the inner locks do not refer to it.

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Hold it for reading: it is neither replaced nor deleted, but it may grow."""
        async with self._lock.reader:
            yield

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold it exclusively: wait for current readers, and make later readers wait."""
        async with self._lock.writer:
            yield
