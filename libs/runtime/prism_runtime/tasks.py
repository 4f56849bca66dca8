"""Tasks that end with those who began them."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


@asynccontextmanager
async def running(coroutine: Coroutine[Any, Any, Result]) -> AsyncIterator[asyncio.Task[Result]]:
    """A task beside a block, for who awaits it there; it does not outlive the block, however that ends."""
    task = asyncio.create_task(coroutine)
    try:
        yield task
    finally:
        await cancelled(task)


async def cancelled(*tasks: asyncio.Task[Any]) -> None:
    """Cancel what still runs of the tasks, and return when all have ended; what they raised is heard, and not told."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
