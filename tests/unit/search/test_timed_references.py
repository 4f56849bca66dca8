"""Searches the references of several symbols within a time limit."""

import asyncio
import gc

import pytest

from prism_catalog.target import Target
from prism_contracts.records import Repository
from prism_contracts.rpc.symbols import ReferencesRequest
from prism_search.operations import timed_references
from prism_search.operations.timed_references import AT_ONCE, TimedReferences
from prism_store.scope import Scope

WHAT = "Tests of further callers"


class References:
    """Returns the name of the symbol; fails or waits if the name begins with `bad` or `slow`."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.under_way: set[str] = set()
        self.most = 0

    async def entries(self, target: Target, symbol: str, request: ReferencesRequest) -> tuple[str, ...]:
        assert request.symbols == (symbol,)
        self.begun.append(symbol)
        self.under_way.add(symbol)
        self.most = max(self.most, len(self.under_way))
        try:
            await asyncio.sleep(3_600 if symbol.startswith("slow") else 0)
            if symbol.startswith("bad"):
                raise ValueError(symbol)
            return (symbol,)
        finally:
            self.under_way.discard(symbol)


@pytest.fixture
def references() -> References:
    return References()


@pytest.fixture
def timed(references) -> TimedReferences:
    repository = Repository.model_construct(repo="r", name="acme/app")
    return TimedReferences(references, Target(Scope("t", ("r",)), (repository,)))


def symbols(*names: str) -> list[tuple[str, str]]:
    return [(name, "a.py") for name in names]


async def test_answers_keep_order_and_few_run_at_once(references, timed):
    names = [f"one{number}" for number in range(7)]
    assert await timed.entries_of_each(symbols(*names), WHAT) == [(name,) for name in names]
    assert references.most == AT_ONCE
    assert not timed.left_out


async def test_late_searches_are_cancelled_and_left_out(references, timed, monkeypatch):
    monkeypatch.setattr(timed, "_ends", timed._ends - timed_references.SECONDS_MAX + 0.2)
    assert await timed.entries_of_each(symbols("one", "slow", "two"), WHAT) == [("one",), (), ("two",)]
    assert not references.under_way
    assert timed.left_out == [f"{WHAT}: not searched, because it would take too long."]


async def test_nothing_is_searched_after_the_deadline(references, timed, monkeypatch):
    monkeypatch.setattr(timed, "_ends", 0.0)
    assert await timed.entries_of_each(symbols("one", "two"), WHAT) == [(), ()]
    assert not references.begun
    assert len(timed.left_out) == 1


async def test_failure_cancels_all_and_retrieves_every_error(references, timed):
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    with pytest.raises(ValueError, match="bad"):
        await timed.entries_of_each(symbols("bad one", "bad two", "slow"), WHAT)
    assert not references.under_way
    gc.collect()  # tasks report unretrieved errors when they are collected
    assert not complaints


async def test_cancellation_cancels_all_searches(references, timed):
    asked = asyncio.create_task(timed.entries_of_each(symbols("slow", "slower"), WHAT))
    while len(references.under_way) < AT_ONCE:
        await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert not references.under_way
