"""What is asked of the store for a leg."""

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc import Scope
from prism_store.reader import Reader, TextLeg, has

SCOPE = Scope(tenant="t", repos=("r",))


class Client:
    """Keeps what is asked, and finds nothing."""

    def __init__(self) -> None:
        self.asked: list[dict[str, object]] = []

    async def ask(self, _: str, __: str, body: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
        self.asked += body["searches"]
        return [{"points": []} for _ in body["searches"]]


async def filter_of(leg: TextLeg, *, is_whole: bool) -> object:
    client = Client()
    await Reader(client).ask_legs(SCOPE, [leg], is_whole=is_whole)  # type: ignore[arg-type]
    return client.asked[0].get("filter")


async def test_a_filter_is_asked_for_only_if_it_filters():
    assert await filter_of(TextLeg("text", "words", 1), is_whole=True) is None
    limited = await filter_of(TextLeg("text", "words", 1, (has("prose", value=True),)), is_whole=True)
    assert [condition.key for condition in limited.must] == ["prose"]
    scoped = await filter_of(TextLeg("text", "words", 1, (has("prose", value=True),)), is_whole=False)
    assert [condition.key for condition in scoped.must] == ["scope", "prose"]


async def test_a_leg_without_a_repository_is_refused_whatever_is_thought_to_be_whole():
    with pytest.raises(PrismError) as refused:
        await Reader(Client()).ask_legs(Scope(tenant="t", repos=()), [TextLeg("text", "w", 1)], is_whole=True)
    assert refused.value.body.code is ErrorCode.FORBIDDEN
