"""Batches the items of many handlers into one call.

Each message keeps its own handler, and so its own acknowledgement, retry and dead letter, while expensive
calls (a model, a store) get batches. A batch is everything that waits when the previous one is done, so a
single item never waits for others. Where throughput matters more than latency, batches can keep a distance.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from opentelemetry.context import Context

from prism_runtime import tracing

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Waiting(NamedTuple, Generic[Item, Result]):
    """An item, its result, and the context of its call."""

    item: Item
    future: asyncio.Future[Result]
    context: Context


class Batcher(Generic[Item, Result]):
    """Runs `work` over batches of at most `items_max` items whose weights add up to at most `weight_max`.

    After a batch the next one waits until it is full, for at most `distance_s` seconds.

    `work` returns one result per item, in order. An exception object as a result is raised for that item
    only. If `work` itself raises, every item of the batch gets the error.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]],
        *,
        items_max: int,
        weight: Callable[[Item], int] = lambda _: 1,
        weight_max: int = 1 << 62,
        distance_s: float = 0.0,
        name: str = "batch",
    ) -> None:
        """`name` is that of the span of each batch."""
        self._work = work
        self._items_max = items_max
        self._weight = weight
        self._weight_max = weight_max
        self._distance_s = distance_s
        self._name = name
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._waiting_weight = 0
        self._is_full = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None

    async def submit(self, item: Item) -> Result:
        """Queue an item and return its result."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(item, future, tracing.context()))
        self._waiting_weight += self._weight(item)
        self._look_whether_full()
        if self._runner is None or self._runner.done():
            self._runner = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        # One turn of the event loop, so that handlers that start together share a batch.
        await asyncio.sleep(0)
        while self._waiting:
            batch = self._take()
            futures = [waiting.future for waiting in batch]
            try:
                # This task has the context of the call that started it, which may be over.
                with tracing.batch(self._name, [waiting.context for waiting in batch]):
                    results = await self._work([waiting.item for waiting in batch])
                # Checked first: a submitter without a result would wait for ever.
                answers = list(zip(futures, results, strict=True))
            except Exception as error:  # noqa: BLE001 - belongs to the submitters
                answers = [(future, error) for future in futures]
            for future, answer in answers:
                _resolve(future, answer)
            if self._distance_s:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._is_full.wait(), self._distance_s)

    def _take(self) -> "list[_Waiting[Item, Result]]":
        batch: list[_Waiting[Item, Result]] = []
        weight = 0
        while self._waiting and len(batch) < self._items_max:
            weight += self._weight(self._waiting[0].item)
            if batch and weight > self._weight_max:
                break
            batch.append(self._waiting.popleft())
        self._waiting_weight -= sum(self._weight(waiting.item) for waiting in batch)
        self._look_whether_full()
        return batch

    def _look_whether_full(self) -> None:
        if len(self._waiting) >= self._items_max or self._waiting_weight >= self._weight_max:
            self._is_full.set()
        else:
            self._is_full.clear()


def _resolve(future: asyncio.Future[Result], result: Result | Exception) -> None:
    if future.done():  # its handler was cancelled
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
