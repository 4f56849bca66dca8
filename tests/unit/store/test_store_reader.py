"""The requests that a leg sends to the store, and their number."""

import asyncio
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from prism_contracts.errors import ErrorCode, PrismError
from prism_store.metrics import StoreMetrics
from prism_store.reader import SEARCHES_MAX, Reader, TextLeg, has
from prism_store.scope import Scope

SCOPE = Scope(tenant="t", repos=("r",))


class Client:
    """Records the requests, and finds one point per search, named after its limit."""

    def __init__(self) -> None:
        self.asked: list[list[dict[str, object]]] = []
        self.metrics = StoreMetrics(CollectorRegistry())

    async def ask(self, _: str, __: str, body: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
        self.asked.append(list(body["searches"]))
        return [
            {"points": [{"id": str(search["limit"]), "score": float(search["limit"])}]}
            for search in body["searches"]
        ]


async def filter_of(leg: TextLeg, *, is_whole: bool) -> object:
    client = Client()
    await Reader(client).ask_legs(SCOPE, [leg], is_whole=is_whole)  # type: ignore[arg-type]
    return client.asked[0][0].get("filter")


async def test_a_filter_is_sent_only_if_it_filters():
    assert await filter_of(TextLeg("text", "words", 1), is_whole=True) is None
    limited = await filter_of(TextLeg("text", "words", 1, (has("prose", value=True),)), is_whole=True)
    assert [condition.key for condition in limited.must] == ["prose"]
    scoped = await filter_of(TextLeg("text", "words", 1, (has("prose", value=True),)), is_whole=False)
    assert [condition.key for condition in scoped.must] == ["scope", "prose"]


async def test_a_leg_without_a_repository_is_refused():
    with pytest.raises(PrismError) as refused:
        await Reader(Client()).ask_legs(Scope(tenant="t", repos=()), [TextLeg("text", "w", 1)], is_whole=True)
    assert refused.value.body.code is ErrorCode.FORBIDDEN


def legs(*limits: int) -> list[TextLeg]:
    return [TextLeg("text", "words", limit) for limit in limits]


async def test_simultaneous_legs_share_a_request():
    client = Client()
    reader = Reader(client)  # type: ignore[arg-type]
    first, rarities, second = await asyncio.gather(
        reader.ask_legs(SCOPE, legs(7, 8)),
        reader.rarities(SCOPE, ["a", "b"]),
        reader.ask_legs(SCOPE, legs(9)),
    )
    assert [[point.id for point in found] for found in (*first, *second)] == [["7"], ["8"], ["9"]]
    assert rarities == [1.0, 1.0]
    assert [len(searches) for searches in client.asked] == [5]
    await reader.ask_legs(SCOPE, legs(3))
    assert [len(searches) for searches in client.asked] == [5, 1]


async def test_tenants_share_no_request():
    client = Client()
    reader = Reader(client)  # type: ignore[arg-type]
    other = replace(SCOPE, tenant="u")
    await asyncio.gather(reader.ask_legs(SCOPE, legs(1)), reader.ask_legs(other, legs(2)))
    assert [[search["limit"] for search in searches] for searches in client.asked] == [[1], [2]]


async def test_a_request_is_limited_in_size():
    client = Client()
    reader = Reader(client)  # type: ignore[arg-type]
    almost_all = legs(*[1] * (SEARCHES_MAX - 1))
    await asyncio.gather(*(reader.ask_legs(SCOPE, asked) for asked in (almost_all, legs(1), legs(2))))
    assert [len(searches) for searches in client.asked] == [SEARCHES_MAX, 1]


async def test_a_cancelled_caller_does_not_affect_others():
    reader = Reader(Client())  # type: ignore[arg-type]
    impatient = asyncio.create_task(reader.ask_legs(SCOPE, legs(1)))
    patient = asyncio.create_task(reader.ask_legs(SCOPE, legs(2)))
    await asyncio.sleep(0)
    impatient.cancel()
    assert [point.id for found in await patient for point in found] == ["2"]
