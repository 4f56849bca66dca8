"""What runs beside a block ends with it."""

import asyncio

import pytest

from prism_runtime import tasks
from prism_runtime.tasks import cancelled, running


async def for_ever(ended: list[str]) -> str:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")
    return ""


async def at_once() -> str:
    return "done"


async def fail() -> str:
    raise ValueError("never awaited")


async def test_a_task_that_is_awaited_gives_its_result():
    async with running(at_once()) as task:
        assert await task == "done"


async def test_a_task_does_not_outlive_a_block_that_fails():
    ended: list[str] = []

    async def fail_beside() -> None:
        async with running(for_ever(ended)):
            await asyncio.sleep(0)
            raise KeyError

    with pytest.raises(KeyError):
        await fail_beside()
    assert ended == ["cancelled"]


async def test_an_unawaited_error_does_not_hide_the_blocks_own():
    async with running(fail()) as task:
        await asyncio.wait([task])
    assert isinstance(task.exception(), ValueError)


async def test_a_task_that_swallows_a_cancellation_ends(monkeypatch):
    monkeypatch.setattr(tasks, "CANCEL_AGAIN_S", 0.01)
    answer = asyncio.get_running_loop().create_future()

    async def ask_and_go_on() -> None:
        await asyncio.wait_for(answer, timeout=60)
        await asyncio.Event().wait()

    task = asyncio.create_task(ask_and_go_on())
    await asyncio.sleep(0)
    answer.set_result("arrives together with the cancellation")
    async with asyncio.timeout(120):
        await cancelled(task)
    assert task.cancelled()
