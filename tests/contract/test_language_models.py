"""The adapter of language models against servers of OpenAI's protocol, and budgets in NATS."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import nats
import pytest
from model_server import (
    KEY,
    MODEL,
    TOKENS_IN,
    TOKENS_OUT,
    Reply,
    fails,
    hangs,
    model_server,
    redirects,
    refuses_schema,
    says,
    sends_much,
)
from pydantic import BaseModel, Field

from prism_contracts import names
from prism_contracts.accounting import ModelDay, ModelPurpose, ModelUse
from prism_runtime.records import Records, open_bucket
from prism_scribe.adapters.model_days import ModelDays
from prism_scribe.adapters.model_endpoints import ModelCallError, PydanticEndpoint
from prism_scribe.core.model_attempts import Failure
from prism_scribe.core.model_budgets import Caps, Cost
from prism_scribe.core.model_names import Host, ModelName
from prism_scribe.core.writing import EvidenceText, WritingTask

NAME = ModelName(Host.ENDPOINT, MODEL)
EVIDENCE = (EvidenceText("e1", "def retry(): ...", "bus.py:1-2"),)
TASK = WritingTask("acme", ModelPurpose.CONTEXT, "Answer the question.", "How does it retry?", tokens_max=200)
ANSWER = {"text": "It tries again.", "evidence": ["e1"]}


class Line(BaseModel):
    """A sentence and what it is drawn from."""

    text: str = Field(max_length=200)
    evidence: list[Annotated[str, Field(max_length=20)]] = Field(max_length=4)


async def ask(*replies: Reply, timeout_s: float = 20.0, key: str = KEY) -> tuple[Line, int, int, list[dict]]:
    async with model_server(*replies) as server:
        endpoint = PydanticEndpoint(NAME, key, server.url)
        try:
            answer = await endpoint.ask(TASK, EVIDENCE, Line, timeout_s=timeout_s)
        finally:
            await endpoint.close()
        assert isinstance(answer.output, Line)
        assert server.keys == [f"Bearer {key}"] * len(server.asked)
        return answer.output, answer.tokens_in, answer.tokens_out, server.asked


async def test_an_answer_is_of_the_type_that_was_asked_for() -> None:
    output, tokens_in, tokens_out, asked = await ask(says(ANSWER))
    assert (output.text, output.evidence) == ("It tries again.", ["e1"])
    assert (tokens_in, tokens_out) == (TOKENS_IN, TOKENS_OUT)
    (request,) = asked
    assert request["response_format"]["type"] == "json_schema"
    assert not request.get("tools")
    assert request["max_tokens"] == 200
    # A server that holds a model to its schema holds it to these lengths.
    assert request["response_format"]["json_schema"]["schema"]["properties"]["text"]["maxLength"] == 200


async def test_a_server_without_schemas_is_told_the_schema() -> None:
    output, *_, asked = await ask(refuses_schema)
    assert output.text == "told"
    assert len(asked) == 2
    assert "maxLength" in str(asked[1]["messages"])


@pytest.mark.parametrize(
    ("reply", "failure", "is_free"),
    [
        (fails(429, headers={"Retry-After": "7"}), Failure.BUSY, True),
        (fails(500), Failure.BROKEN, True),
        (fails(503), Failure.BROKEN, True),
        (fails(401), Failure.NOT_ALLOWED, True),
        (fails(404, code="model_not_found"), Failure.NOT_ALLOWED, True),
        (fails(402, code="insufficient_quota"), Failure.NOT_ALLOWED, True),
        (fails(400), Failure.REJECTED, True),
        (fails(400, "too long", code="context_length_exceeded"), Failure.REJECTED, True),
        (says("I would rather talk about the weather."), Failure.INVALID, False),
        (says('{"text": "It tri', finish="length"), Failure.INVALID, False),
        (says({"text": "x" * 201, "evidence": []}), Failure.INVALID, False),
        (says({"evidence": []}), Failure.INVALID, False),
        (says(""), Failure.INVALID, False),
    ],
)
async def test_each_failure_is_told_apart(reply: Reply, failure: Failure, is_free: bool) -> None:
    with pytest.raises(ModelCallError) as caught:
        await ask(reply)
    assert (caught.value.failure, caught.value.is_free) == (failure, is_free)
    assert caught.value.retry_after_s == (7 if failure is Failure.BUSY else None)
    assert KEY not in str(caught.value)
    # What was answered is paid for, whether it is valid or not.
    assert caught.value.tokens_out == (TOKENS_OUT if failure is Failure.INVALID else 0)


async def test_a_server_that_hangs_is_late() -> None:
    with pytest.raises(ModelCallError) as caught:
        await asyncio.wait_for(ask(hangs, timeout_s=0.3), 20)
    assert (caught.value.failure, caught.value.is_free) == (Failure.LATE, False)


@pytest.mark.parametrize("reply", [sends_much, redirects])
async def test_too_much_and_redirects_are_no_answer(reply: Reply) -> None:
    with pytest.raises(ModelCallError):
        await ask(reply)


async def test_a_server_that_is_away_costs_nothing() -> None:
    endpoint = PydanticEndpoint(NAME, "", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelCallError) as caught:
        await endpoint.ask(TASK, EVIDENCE, Line, timeout_s=5)
    await endpoint.close()
    assert (caught.value.failure, caught.value.is_free) == (Failure.UNREACHABLE, True)


@pytest.fixture
async def two_copies(nats_server) -> AsyncIterator[list[ModelDays]]:
    clients = [await nats.connect(nats_server.url) for _ in range(2)]
    copies = []
    for client in clients:
        bucket = await open_bucket(client.jetstream(), names.KV_MODEL_DAYS)
        copies.append(ModelDays(Records(bucket, ModelDay), lambda _: Caps(10_000, None)))
    yield copies
    for client in clients:
        await client.close()


async def test_two_copies_share_the_budget_of_a_tenant(two_copies) -> None:
    cost = Cost(900, 0)
    days = await asyncio.gather(*(copy.reserve("acme", cost) for copy in two_copies * 10))
    reserved = [day for day in days if day]
    assert len(reserved) == 11  # of 20: 9,900 of 10,000 tokens
    assert await two_copies[0].reserve("other", cost)
    use = ModelUse(purpose=ModelPurpose.WIKI, model="endpoint:a", calls=1, tokens_in=10, tokens_out=5)
    for copy, day in zip(two_copies, reserved, strict=False):
        await copy.settle("acme", day, cost, use)
    # What was not spent can be.
    assert await two_copies[1].reserve("acme", cost)
    assert await two_copies[0].reserve("acme", cost)
    assert await two_copies[1].reserve("acme", cost) is None


async def test_a_copy_that_is_killed_in_a_call_leaves_its_reservation(two_copies) -> None:
    await two_copies[0].reserve("killed", Cost(9_500, 0))
    assert await two_copies[1].reserve("killed", Cost(600, 0)) is None


async def test_without_nats_a_budget_is_not_known(nats_server) -> None:
    client = await nats.connect(nats_server.url)
    bucket = await open_bucket(client.jetstream(), names.KV_MODEL_DAYS)
    days = ModelDays(Records(bucket, ModelDay), lambda _: Caps(None, None))
    await client.close()
    with pytest.raises(OSError, match="connection"):
        await days.reserve("acme", Cost(1, 0))
