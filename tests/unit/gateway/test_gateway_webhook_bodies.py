"""Handling of a webhook's body before its signature is checked."""

import json
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.webhooks.bodies import SMALL_BYTES_MAX, BodyBudget
from prism_gateway.webhooks.mentions import VALUES_MAX, mentions
from prism_gateway.webhooks.payloads import FORM, JSON

PAYLOAD = {
    "pull_request": {
        "head": {"repo": {"full_name": "fork/app", "clone_url": "https://git.example.org/fork/app.git"}}
    },
    "repository": {"full_name": "acme/app", "clone_url": "https://git.example.org/acme/app.git"},
}
NAMES = {"fork/app", "acme/app"}
URLS = {"https://git.example.org/fork/app.git", "https://git.example.org/acme/app.git"}


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" , ", " : ")])
def test_json_mentions_all_its_repositories(separators: tuple[str, str]) -> None:
    found = mentions(JSON, json.dumps(PAYLOAD, separators=separators).encode())
    assert (found.names, found.urls) == (NAMES, URLS)


def test_a_form_mentions_them_too() -> None:
    body = urlencode({"payload": json.dumps(PAYLOAD)}).encode()
    found = mentions(f"{FORM}; charset=utf-8", body)
    assert (found.names, found.urls) == (NAMES, URLS)


def test_only_the_first_mentions_are_kept() -> None:
    body = json.dumps([{"full_name": f"acme/app-{number}"} for number in range(1_000)]).encode()
    assert mentions(JSON, body).names == {f"acme/app-{number}" for number in range(VALUES_MAX)}


@given(st.binary(max_size=2_000))
def test_any_bytes_can_be_scanned(body: bytes) -> None:
    for kind in (JSON, FORM):
        mentions(kind, body + b'"full_name":' + body)


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_a_body_past_the_budget_is_refused_and_released() -> None:
    budget = BodyBudget(bytes_max=10)
    async with budget.held("6", chunks(b"123", b"456")) as body:
        assert body == b"123456"
        with pytest.raises(PrismError) as refused:
            async with budget.held("5", chunks(b"12345")):
                pass
    assert refused.value.code is ErrorCode.UNAVAILABLE
    async with budget.held("10", chunks(b"1234567890")) as body:
        assert len(body) == 10


async def test_large_bodies_leave_room_for_small_ones() -> None:
    budget = BodyBudget(bytes_max=10)
    large = str(SMALL_BYTES_MAX + 1)
    async with budget.held(large, chunks(b"1234567890")), budget.held("5", chunks(b"12345")) as body:
        assert body == b"12345"
    with pytest.raises(PrismError):
        async with budget.held("", chunks(b"12345678901")):
            pass
