"""Turns: a single tenant gets all of them, several share them fairly."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.turns import ASKING_S, TurnLimits, Turns, Waiters

LIMITS = TurnLimits(total=4, of_tenant_shared=2, queued_of_tenant=3, queue_s=30)


class Asker:
    """Questions of tenants that run until a test ends them."""

    def __init__(self, limits: TurnLimits = LIMITS) -> None:
        self.now = 0.0
        self.turns = Turns(limits, clock=lambda: self.now)
        self.working: list[str] = []
        self._ends: dict[str, list[asyncio.Event]] = {}
        self.tasks: list[asyncio.Task[None]] = []

    async def ask(self, tenant: str, times: int = 1) -> None:
        for _ in range(times):
            self.tasks.append(asyncio.create_task(self._question(tenant)))
        await settled()

    async def end(self, tenant: str, times: int = 1) -> None:
        for _ in range(times):
            self._ends[tenant].pop(0).set()
        await settled()

    async def _question(self, tenant: str) -> None:
        async with self.turns.turn(tenant):
            end = asyncio.Event()
            self._ends.setdefault(tenant, []).append(end)
            self.working.append(tenant)
            try:
                await end.wait()
            finally:
                self.working.remove(tenant)


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def asker():
    asker = Asker()
    yield asker
    for task in asker.tasks:
        task.cancel()
    await asyncio.gather(*asker.tasks, return_exceptions=True)


async def test_a_tenant_alone_has_every_turn(asker):
    await asker.ask("a", 6)
    assert asker.working == ["a"] * 4
    await asker.end("a", 2)
    assert asker.working == ["a"] * 4


async def test_the_next_free_turn_goes_to_the_tenant_with_the_fewest(asker):
    await asker.ask("a", 6)
    await asker.ask("b")
    assert "b" not in asker.working
    await asker.end("a")
    assert sorted(asker.working) == ["a", "a", "a", "b"]


async def test_concurrent_tenants_get_their_share(asker):
    await asker.ask("b")
    await asker.ask("a", 5)
    assert sorted(asker.working) == ["a", "a", "b"]
    await asker.end("a")
    assert sorted(asker.working) == ["a", "a", "b"]


async def test_a_tenant_gets_all_turns_when_others_are_idle(asker):
    await asker.ask("b")
    await asker.end("b")
    await asker.ask("a", 3)
    assert asker.working == ["a"] * 2
    asker.now += ASKING_S + 1
    await asker.end("a")
    assert asker.working == ["a"] * 2
    await asker.ask("a", 2)
    assert asker.working == ["a"] * 4


async def test_a_queue_is_limited(asker):
    await asker.ask("a", 4 + 3)
    with pytest.raises(PrismError) as refused:
        async with asker.turns.turn("a"):
            pass
    assert refused.value.code is ErrorCode.RATE_LIMITED
    assert refused.value.body.details["retry_after_s"] >= 1
    await asker.ask("b")
    await asker.end("a")
    assert "b" in asker.working


async def test_a_question_that_waits_too_long_is_refused():
    asker = Asker(LIMITS._replace(total=1, queue_s=0.01))
    await asker.ask("a")
    with pytest.raises(PrismError) as refused:
        async with asker.turns.turn("a"):
            pass
    assert refused.value.code is ErrorCode.RATE_LIMITED
    await asker.end("a")
    async with asker.turns.turn("a"):
        pass


async def test_callers_that_leave_the_queue_use_no_turn(asker):
    await asker.ask("a", 7)
    for task in asker.tasks[4:6]:
        task.cancel()
    await asker.end("a", 4)
    assert asker.working == ["a"]
    await asker.end("a")
    await asker.ask("a", 4)
    assert asker.working == ["a"] * 4


async def test_a_cancelled_caller_passes_its_turn_on(asker):
    await asker.ask("a", 6)
    asker.tasks[0].cancel()
    asker.tasks[4].cancel()
    await settled()
    assert asker.working == ["a"] * 4


async def test_waiters_have_a_limit_of_their_own():
    waiters = Waiters(2)
    async with AsyncExitStack() as places:
        for _ in range(2):
            await places.enter_async_context(waiters.place("a"))
        with pytest.raises(PrismError) as refused:
            await places.enter_async_context(waiters.place("a"))
        assert refused.value.code is ErrorCode.RATE_LIMITED
        await places.enter_async_context(waiters.place("b"))
    async with waiters.place("a"):
        pass
