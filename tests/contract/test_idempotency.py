"""`Idempotency-Key` over two gateways: a repeated request gets the same answer, and takes effect once."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts import names
from prism_contracts.records import KeptRequest
from prism_gateway.kept_requests import ANSWER_BYTES_MAX, IN_PROGRESS_S_MAX
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

KEY = {"Idempotency-Key": "4be1e2d5-07a9-4c93-a6ae-1a2d8c9f0b77"}
REPOS = "/api/v1/repos"
BODY = {"url": "https://example.com/acme/app.git"}


def code_of(response) -> str:
    return response.json()["error"]["code"]


@pytest.fixture
async def two(make_stack):
    """A gateway with its services, and a second one in front of the same services."""
    return await make_stack(), await make_stack(services=())


@pytest.fixture
async def records(stack) -> Records[KeptRequest]:
    return Records(await open_bucket(stack.bus.js, names.KV_REQUESTS), KeptRequest)


async def test_a_repetition_gets_the_answer_from_every_gateway(two) -> None:
    one, other = two
    async with one.rest(**KEY) as here, other.rest(**KEY) as there:
        first = await here.post(REPOS, json=BODY)
        asked = len(one.fake.asked)
        for again in (await here.post(REPOS, json=BODY), await there.post(REPOS, json=BODY)):
            assert (again.status_code, again.content) == (first.status_code, first.content)
            assert again.headers["Idempotent-Replayed"] == "true"
    assert (first.status_code, len(one.fake.asked)) == (202, asked)
    assert "Idempotent-Replayed" not in first.headers


async def test_a_key_belongs_to_one_request(stack) -> None:
    async with stack.rest(**KEY) as http:
        await http.post(REPOS, json=BODY)
        others = [
            await http.post(REPOS, json={**BODY, "ref": "topic"}),
            await http.post(f"{REPOS}/acme/app/index", json=BODY),
            await http.post(REPOS, json=BODY, headers={"X-Prism-Repo": "acme/app"}),
            await http.post(f"{REPOS}?x=1", json=BODY),
        ]
    assert [(one.status_code, code_of(one)) for one in others] == [(422, "idempotency_conflict")] * 4


async def test_a_request_in_progress_is_refused(two) -> None:
    one, other = two
    async with one.rest(**KEY) as here, other.rest(**KEY) as there:
        running = asyncio.create_task(here.post(f"{REPOS}/slow/index"))
        await one.fake.slow_began.wait()
        refused = await there.post(f"{REPOS}/slow/index")
        one.fake.slow_ends.set()
        done = await running
        again = await there.post(f"{REPOS}/slow/index")
    assert (refused.status_code, code_of(refused)) == (409, "request_in_progress")
    assert int(refused.headers["Retry-After"]) > 0
    assert (again.status_code, again.content) == (202, done.content)


async def test_simultaneous_requests_take_effect_once(two) -> None:
    one, other = two
    async with one.rest(**KEY) as here, other.rest(**KEY) as there:
        answers = await asyncio.gather(
            *(http.post(f"{REPOS}/acme/app/index") for http in (here, there) for _ in range(8))
        )
    assert {answer.status_code for answer in answers} <= {202, 409}
    assert len(one.fake.asked) == 1


async def test_a_request_that_fails_may_be_corrected(stack) -> None:
    async with stack.rest(**KEY) as http:
        refusals = [
            await http.post(REPOS, json={"url": "file:///etc"}),
            await http.post(REPOS, json={"surprise": 1}),
        ]
        accepted = await http.post(REPOS, json=BODY)
    assert [refused.status_code for refused in refusals] == [400, 400]
    assert accepted.status_code == 202


async def test_callers_share_no_key(stack) -> None:
    await stack.change_token("prism_other", scopes=("write",))
    async with stack.rest(**KEY) as http:
        await http.post(REPOS, json=BODY)
    async with stack.rest(**KEY, Authorization="Bearer prism_other") as http:
        other = await http.post(REPOS, json={**BODY, "ref": "topic"})
    assert other.status_code == 202
    assert stack.fake.last().tenant == "acme"


async def test_a_kept_answer_needs_the_scope_too(stack) -> None:
    await stack.change_token("prism_other", scopes=("write",))
    async with stack.rest(**KEY, Authorization="Bearer prism_other") as http:
        await http.post(REPOS, json=BODY)
        await stack.change_token("prism_other", scopes=("read",))
        while (refused := await http.post(REPOS, json=BODY)).status_code == 202:
            await asyncio.sleep(0.01)
    assert (refused.status_code, code_of(refused)) == (403, "forbidden")


async def test_a_secret_is_shown_again_and_stored_nowhere(stack, records) -> None:
    body = {"label": "continuous integration", "scopes": ["read"]}
    async with stack.rest(**KEY) as http:
        created = await http.post("/api/v1/developer-tokens", json=body)
        again = await http.post("/api/v1/developer-tokens", json=body)
        listed = (await http.get("/api/v1/developer-tokens")).json()["tokens"]
    assert (again.status_code, again.content) == (201, created.content)
    assert again.headers["Cache-Control"] == "no-store"
    assert [token["label"] for token in listed].count("continuous integration") == 1
    [kept] = await records.all()
    assert created.json()["secret"].encode() not in kept.sealed
    assert b"continuous" not in kept.model_dump_json().encode()


async def test_a_request_whose_gateway_died_is_handled_again(stack, records) -> None:
    async with stack.rest(**KEY) as http:
        await http.post(REPOS, json=BODY)
        asked = len(stack.fake.asked)
        [record] = await records.all()
        [key] = await (await stack.bus.js.key_value(names.KV_REQUESTS)).keys()
        for age_s, status in ((IN_PROGRESS_S_MAX - 60, 409), (IN_PROGRESS_S_MAX + 60, 202)):
            died = {"status": 0, "began_at": datetime.now(UTC) - timedelta(seconds=age_s)}
            await records.put(key, record.model_copy(update=died))
            assert (await http.post(REPOS, json=BODY)).status_code == status
    assert len(stack.fake.asked) == asked + 1


@pytest.mark.parametrize("key", ["x" * 256, "two words", "caf\u00e9"])
async def test_a_key_has_at_most_255_visible_characters(stack, key) -> None:
    async with stack.rest() as http:
        refused = await http.post(REPOS, json=BODY, headers={b"Idempotency-Key": key.encode()})
        accepted = await http.post(REPOS, json=BODY, headers={"Idempotency-Key": "x" * 255})
    assert (refused.status_code, code_of(refused)) == (400, "invalid_argument")
    assert accepted.status_code == 202


async def test_kept_answers_are_bounded(stack) -> None:
    info = await stack.bus.js.stream_info(f"KV_{names.KV_REQUESTS}")
    assert info.config.max_bytes == names.REQUESTS_MAX_BYTES
    assert info.config.max_age == names.REQUESTS_MAX_AGE_S
    assert 2 * ANSWER_BYTES_MAX < names.MESSAGE_BYTES_MAX  # base64, and the other fields
