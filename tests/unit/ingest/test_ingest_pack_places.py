"""How many packs of a tenant wait at once."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_ingest.adapters.pack_places import ARRIVES_WITHIN_S, PACKS_OF_TENANT_MAX, PackPlaces


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


async def is_full(places: PackPlaces, tenant: str) -> bool:
    """Whether no pack is admitted. Takes a place otherwise."""
    try:
        await places.admit(tenant, wait_s=0.0)
    except PrismError as error:
        return error.code is ErrorCode.RATE_LIMITED and "retry_after_s" in error.body.details
    return False


@pytest.mark.parametrize("arrived", [0, 3, PACKS_OF_TENANT_MAX])
async def test_admitted_and_arrived_packs_take_places(arrived) -> None:
    places = PackPlaces()
    async with AsyncExitStack() as packs:
        for _ in range(PACKS_OF_TENANT_MAX):
            assert not await is_full(places, "t")
        for _ in range(arrived):
            await packs.enter_async_context(places.held("t"))
        assert await is_full(places, "t")
        assert not await is_full(places, "other")
    assert await is_full(places, "t") is not bool(arrived)


async def test_a_pack_is_admitted_when_another_is_done() -> None:
    places = PackPlaces()
    async with AsyncExitStack() as packs:
        for _ in range(PACKS_OF_TENANT_MAX):
            await packs.enter_async_context(places.held("t"))
        waiting = asyncio.create_task(places.admit("t"))
        await asyncio.sleep(0)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 10)


async def test_a_pack_that_never_arrives_loses_its_place() -> None:
    clock = Clock()
    places = PackPlaces(clock)
    for _ in range(PACKS_OF_TENANT_MAX):
        await places.admit("t")
    clock.now_s = ARRIVES_WITHIN_S
    assert not await is_full(places, "t")


async def test_a_pack_that_was_not_admitted_here_counts_on_arrival() -> None:
    places = PackPlaces()
    async with AsyncExitStack() as packs:
        for _ in range(PACKS_OF_TENANT_MAX + 1):
            await packs.enter_async_context(places.held("t"))
        assert await is_full(places, "t")
