"""How often Python looks for cycles in a process that is busy with messages, and when freed memory goes back."""

import asyncio
import contextlib
import ctypes
import gc
import sys

THRESHOLD_OBJECTS = 50_000
RELEASE_PAUSE_S = 10.0


def collect_rarely() -> None:
    """Messages are trees of fresh objects without cycles: the collector would look at each of them several times."""
    gc.freeze()
    gc.set_threshold(THRESHOLD_OBJECTS)


async def release_regularly() -> None:
    """Give freed memory back every few seconds, for ever: an import leaves tens of megabytes in each process."""
    while True:
        await asyncio.sleep(RELEASE_PAUSE_S)
        release_heap()


def release_heap() -> None:
    """Give freed memory back to the system; glibc keeps it otherwise. Elsewhere it does nothing."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
