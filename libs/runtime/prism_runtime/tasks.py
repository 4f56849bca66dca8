"""Tasks that end with their owner."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

# A task needs less for its cleanup.
CANCEL_AGAIN_S = 2.0

Result = TypeVar("Result")


@asynccontextmanager
async def running(coroutine: Coroutine[Any, Any, Result]) -> AsyncIterator[asyncio.Task[Result]]:
    """Run a task during a block. It is cancelled at the end of the block, however the block ends."""
    task = asyncio.create_task(coroutine)
    try:
        yield task
    finally:
        await cancelled(task)


async def cancelled(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the running tasks, and return when all have ended.

    Their exceptions are retrieved and dropped. `asyncio.wait_for` swallows a cancellation that arrives
    together with its result, so tasks that go on are cancelled again.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)
