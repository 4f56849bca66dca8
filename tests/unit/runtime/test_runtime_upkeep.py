"""What a service has in JetStream is looked after."""

import asyncio
from collections.abc import Collection

from prism_runtime.upkeep import Upkeep


async def test_a_bucket_created_during_a_check_is_not_lost() -> None:
    buckets: set[str] = set()
    lost: list[Collection[str]] = []
    is_listed = asyncio.Event()

    async def list_streams() -> dict[str, str]:
        buckets.add("KV_new")  # after the server has answered
        is_listed.set()
        return {}

    async def declare() -> None:
        raise AssertionError("nothing is gone")

    upkeep = Upkeep(list_streams, streams=(), buckets=buckets, declare=declare, give_up=lost.append)
    looking = asyncio.create_task(upkeep.run())
    await is_listed.wait()
    await asyncio.sleep(0)
    looking.cancel()
    assert not lost
