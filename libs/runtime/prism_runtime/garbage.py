"""Garbage collection for a process that handles messages, and the return of freed memory."""

import asyncio
import contextlib
import ctypes
import gc
import sys

THRESHOLD_OBJECTS = 50_000
RELEASE_PAUSE_S = 10.0


def collect_rarely() -> None:
    """Collect less often: messages are trees of new objects without cycles, which the collector would scan
    repeatedly.
    """
    gc.freeze()
    gc.set_threshold(THRESHOLD_OBJECTS)


async def release_regularly() -> None:
    """Return freed memory every few seconds: an import leaves tens of megabytes in each process."""
    while True:
        await asyncio.sleep(RELEASE_PAUSE_S)
        release_heap()


def release_heap() -> None:
    """Return freed memory to the system, which glibc does not do by itself.

    A no-op with other C libraries.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
