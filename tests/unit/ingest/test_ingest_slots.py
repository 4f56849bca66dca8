"""Which task gets a slot when there are fewer slots than tasks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from prism_ingest.adapters.slots import SlotLimits, Slots

LIMITS = SlotLimits(total=4, of_tenant=3, of_server=2)


class Hall:
    """Tasks that wait for slots, and those that have one."""

    def __init__(self) -> None:
        self.slots = Slots(LIMITS)
        self.inside: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, tenant: str, server: str) -> None:
        self.tasks[name] = asyncio.create_task(self._stay(name, tenant, server))
        await turns()

    async def leave(self, name: str) -> None:
        self.tasks.pop(name).cancel()
        await turns()

    async def _stay(self, name: str, tenant: str, server: str) -> None:
        async with self.slots.held(tenant, server):
            self.inside.append(name)
            try:
                await asyncio.Event().wait()
            finally:
                self.inside.remove(name)


async def turns() -> None:
    """Run every task until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
async def hall() -> AsyncIterator[Hall]:
    made = Hall()
    async with AsyncExitStack() as stack:
        yield made
        for task in made.tasks.values():
            stack.callback(task.cancel)


async def test_a_slow_server_leaves_slots_to_other_servers(hall: Hall) -> None:
    for number in range(3):
        await hall.come(f"slow{number}", "a", "slow.example")
    await hall.come("good", "a", "good.example")
    assert hall.inside == ["slow0", "slow1", "good"]


async def test_a_tenant_leaves_slots_to_others(hall: Hall) -> None:
    for number in range(9):
        await hall.come(f"a{number}", "a", f"{number}.example")
    await hall.come("b", "b", "0.example")
    assert hall.inside == ["a0", "a1", "a2", "b"]


async def test_the_tenant_with_the_fewest_slots_goes_first(hall: Hall) -> None:
    for number in range(4):
        await hall.come(f"a{number}", "a", f"{number}.example")
    await hall.come("b", "b", "x.example")
    await hall.come("c", "c", "x.example")
    await hall.leave("a0")
    assert hall.inside == ["a1", "a2", "b", "c"]
    await hall.leave("b")
    assert hall.inside == ["a1", "a2", "c", "a3"]


async def test_a_cancelled_waiter_takes_no_slot(hall: Hall) -> None:
    for number in range(5):
        await hall.come(f"a{number}", "a", f"{number}.example")
    await hall.leave("a3")
    await hall.leave("a0")
    assert hall.inside == ["a1", "a2", "a4"]
