import asyncio
from collections.abc import Sequence

import pytest

from prism_runtime.batcher import Batcher


class Work:
    """Records its batches; answers `-item`, or raises an item that is an error."""

    def __init__(self) -> None:
        self.batches: list[list[object]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, items: Sequence[object]) -> list[object]:
        self.batches.append(list(items))
        await self.gate.wait()
        return [item if isinstance(item, Exception) else -item for item in items]


async def test_waiting_items_form_a_batch_with_separate_results():
    work = Work()
    batcher = Batcher(work, items_max=10)
    assert await asyncio.gather(*map(batcher.submit, range(5))) == [0, -1, -2, -3, -4]
    assert work.batches == [[0, 1, 2, 3, 4]]


async def test_a_single_item_does_not_wait_for_others():
    work = Work()
    batcher = Batcher(work, items_max=10)
    task = asyncio.create_task(batcher.submit(1))
    for _ in range(3):  # submit, the runner's one turn, the work: no timer is involved
        await asyncio.sleep(0)
    assert work.batches == [[1]]
    assert await task == -1


async def test_items_during_a_batch_form_the_next_one():
    work = Work()
    batcher = Batcher(work, items_max=10)
    work.gate.clear()
    tasks = [asyncio.create_task(batcher.submit(1))]
    while not work.batches:
        await asyncio.sleep(0)
    tasks += [asyncio.create_task(batcher.submit(item)) for item in (2, 3)]
    await asyncio.sleep(0)
    work.gate.set()
    assert await asyncio.gather(*tasks) == [-1, -2, -3]
    assert work.batches == [[1], [2, 3]]


async def test_a_batch_limits_its_items_and_keeps_their_order():
    work = Work()
    batcher = Batcher(work, items_max=2)
    await asyncio.gather(*map(batcher.submit, range(5)))
    assert work.batches == [[0, 1], [2, 3], [4]]


async def test_a_batch_has_a_weight_at_the_limit_and_not_past_it():
    work = Work()
    batcher = Batcher(work, items_max=10, weight=lambda item: item, weight_max=10)
    await asyncio.gather(*map(batcher.submit, [4, 6, 1, 9, 1]))
    assert work.batches == [[4, 6], [1, 9], [1]]


async def test_an_item_heavier_than_a_batch_goes_alone():
    work = Work()
    batcher = Batcher(work, items_max=10, weight=lambda item: item, weight_max=10)
    await asyncio.gather(*map(batcher.submit, [1, 99, 1]))
    assert work.batches == [[1], [99], [1]]


FOR_EVER_S = 3_600.0


async def test_with_an_interval_only_a_full_batch_starts_early():
    work = Work()
    batcher = Batcher(work, items_max=3, distance_s=FOR_EVER_S)
    assert await batcher.submit(1) == -1
    tasks = [asyncio.create_task(batcher.submit(item)) for item in (2, 3)]
    for _ in range(10):
        await asyncio.sleep(0)
    assert work.batches == [[1]]
    assert await asyncio.gather(*tasks, batcher.submit(4)) == [-2, -3, -4]
    assert work.batches == [[1], [2, 3, 4]]


async def test_a_batch_is_full_by_weight_as_well():
    work = Work()
    batcher = Batcher(work, items_max=100, weight=lambda item: item, weight_max=10, distance_s=FOR_EVER_S)
    await batcher.submit(1)
    assert await asyncio.gather(batcher.submit(4), batcher.submit(6)) == [-4, -6]
    assert work.batches == [[1], [4, 6]]


async def test_after_the_interval_a_partial_batch_starts():
    work = Work()
    batcher = Batcher(work, items_max=100, distance_s=0.001)
    await batcher.submit(1)
    assert await batcher.submit(2) == -2
    assert work.batches == [[1], [2]]


async def test_the_error_of_one_item_is_its_own():
    batcher = Batcher(Work(), items_max=10)
    results = await asyncio.gather(*map(batcher.submit, [1, ValueError("mine"), 3]), return_exceptions=True)
    assert (results[0], str(results[1]), results[2]) == (-1, "mine", -3)


async def test_an_error_of_the_work_fails_only_its_batch():
    calls = []

    async def work(items):
        calls.append(items)
        if len(calls) == 1:
            raise RuntimeError("all")
        return items

    batcher = Batcher(work, items_max=10)
    results = await asyncio.gather(*map(batcher.submit, [1, 2]), return_exceptions=True)
    assert [str(result) for result in results] == ["all", "all"]
    assert await batcher.submit(3) == 3


@pytest.mark.parametrize("answers", [[], [1, 2, 3]])
async def test_a_wrong_number_of_results_fails_the_whole_batch(answers):
    async def work(items):
        return answers

    batcher = Batcher(work, items_max=10)
    async with asyncio.timeout(120):
        results = await asyncio.gather(*map(batcher.submit, [1, 2]), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError]


async def test_a_cancelled_submitter_cancels_no_other():
    work = Work()
    batcher = Batcher(work, items_max=10)
    work.gate.clear()
    tasks = [asyncio.create_task(batcher.submit(item)) for item in (1, 2)]
    while not work.batches:
        await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.sleep(0)
    work.gate.set()
    async with asyncio.timeout(120):
        assert await tasks[1] == -2
    assert tasks[0].cancelled()
    assert await batcher.submit(3) == -3


async def test_a_cancelled_waiting_submitter_cancels_no_other():
    work = Work()
    batcher = Batcher(work, items_max=1)
    tasks = [asyncio.create_task(batcher.submit(item)) for item in (1, 2, 3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    async with asyncio.timeout(120):
        assert await asyncio.gather(tasks[0], tasks[2]) == [-1, -3]
