"""The order in which readers, the writer and exclusive access proceed."""

import asyncio
import gc
from weakref import WeakValueDictionary

from prism_ingest.adapters.read_write_lock import ReadWriteLock


async def turns() -> None:
    """Run every task until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_readers_do_not_wait_for_a_writer_that_adds() -> None:
    use = ReadWriteLock()
    async with use.adding, use.reading(), use.reading():
        assert use.is_used
    assert not use.is_used


async def test_exclusive_access_waits_for_readers_and_delays_later() -> None:
    use, done = ReadWriteLock(), []

    async def alone() -> None:
        async with use.alone():
            done.append("alone")
            await turns()
            done.append("gone")

    async def read() -> None:
        async with use.reading():
            done.append("read")

    async with use.reading():
        tasks = [asyncio.create_task(alone())]
        await turns()
        tasks.append(asyncio.create_task(read()))
        await turns()
        assert done == []
    await asyncio.gather(*tasks)
    assert done == ["alone", "gone", "read"]
    assert not use.is_used


async def test_a_cancelled_wait_for_exclusive_access_lets_readers_in() -> None:
    use, done = ReadWriteLock(), []

    async def alone() -> None:
        async with use.alone():
            done.append("alone")

    async def read() -> None:
        async with use.reading():
            done.append("read")

    async with use.reading():
        waiting = asyncio.create_task(alone())
        await turns()
        reader = asyncio.create_task(read())
        await turns()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await reader
    assert done == ["read"]
    assert not use.is_used


async def test_a_lock_in_use_survives_in_a_weak_dictionary() -> None:
    locks: WeakValueDictionary[str, ReadWriteLock] = WeakValueDictionary()
    async with locks.setdefault("a", ReadWriteLock()).reading():
        gc.collect()
        assert locks["a"].is_used
    gc.collect()
    assert "a" not in locks
