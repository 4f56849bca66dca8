"""Tenants over REST: made, changed and deactivated by an operator, in effect on every copy of the gateway."""

import asyncio
import hashlib
import hmac
import json
import uuid
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from prism_catalog.tenants import PlanSettings
from prism_contracts import names
from prism_contracts.base import repo_id
from prism_contracts.records import Repository, Tenant, Token
from prism_contracts.token_secrets import digest_of
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

TENANTS = "/api/v1/tenants"
WEBHOOK = "/api/v1/ingest/webhook"
EFFECT_S = 1.0
SEARCH = {"query": "main"}


@asynccontextmanager
async def holding(stack, secret: str = ""):
    async with stack.rest(Authorization=f"Bearer {secret or stack.secret}") as http:
        yield http


async def create(stack, tenant: str = "acme", **body) -> str:
    """Returns the secret of the first token."""
    async with holding(stack) as http:
        response = await http.post(TENANTS, json={"id": tenant, **body})
    assert response.status_code == 201, response.text
    return response.json()["secret"]


async def update(stack, tenant: str = "acme", **changes) -> dict:
    async with holding(stack) as http:
        response = await http.patch(f"{TENANTS}/{tenant}", json=changes)
    assert response.status_code == 200, response.text
    return response.json()


async def search(stack, secret: str) -> int:
    async with holding(stack, secret) as http:
        return (await http.post("/api/v1/search", json=SEARCH)).status_code


async def until_status(stack, secret: str, expected: int) -> None:
    async with asyncio.timeout(EFFECT_S):
        while await search(stack, secret) != expected:
            await asyncio.sleep(0.01)


async def test_a_new_tenant_has_a_token_that_can_do_everything_within_it(stack) -> None:
    async with holding(stack) as http:
        response = await http.post(
            TENANTS,
            json={
                "id": "acme",
                "name": "Acme Corp",
                "plan": "free",
                "limits": {"overlays": 9, "chunks": None},
            },
        )
        shown = (await http.get(f"{TENANTS}/acme")).json()
        listed = (await http.get(TENANTS)).json()
    created = response.json()
    assert response.status_code == 201
    assert response.headers["Cache-Control"] == "no-store"
    assert created["tenant"] == shown
    assert (shown["name"], shown["plan"], shown["is_active"]) == ("Acme Corp", "free", True)
    assert shown["limits"] == {"overlays": 9, "chunks": None}
    assert shown["limits_in_effect"] == shown["limits_in_effect"] | {"searches_per_minute": 60, "overlays": 9}
    assert shown["limits_in_effect"]["chunks"] is None
    assert [tenant["id"] for tenant in listed["tenants"]] == ["acme", "default"]
    async with holding(stack, created["secret"]) as http:
        me = (await http.get("/api/v1/whoami")).json()
        assert (await http.get(TENANTS)).status_code == 403
    assert me == {"tenant": "acme", "label": "first", "scopes": ["admin", "read", "write"]}


async def test_a_tenant_is_created_once(stack) -> None:
    secret = await create(stack, plan="team")
    async with holding(stack) as http:
        again = await http.post(TENANTS, json={"id": "acme", "plan": "free"})
        assert (await http.get(f"{TENANTS}/acme")).json()["plan"] == "team"
    assert (again.status_code, again.json()["error"]["code"]) == (409, "tenant_exists")
    assert await search(stack, secret) == 200


async def test_a_repeated_request_gets_the_same_secret(make_stack) -> None:
    one, two = await make_stack(), await make_stack()
    answers = []
    for stack in (one, two):
        async with stack.rest(**{"Idempotency-Key": "again"}) as http:
            answers.append(await http.post(TENANTS, json={"id": "acme"}))
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert await search(one, answers[1].json()["secret"]) == 200


async def test_omitted_fields_and_limits_stay(stack) -> None:
    await create(stack, name="Acme", plan="free", limits={"overlays": 9, "repositories": None})
    await update(stack, limits={"searches_per_minute": 5})
    changed = await update(stack, plan="team", limits={"overlays": "plan"})
    assert (changed["name"], changed["plan"], changed["is_active"]) == ("Acme", "team", True)
    assert changed["limits"] == {"repositories": None, "searches_per_minute": 5}
    assert changed["limits_in_effect"]["overlays"] == 500
    assert (await update(stack, name=""))["name"] == ""


async def test_tenants_are_listed_page_by_page(stack) -> None:
    for tenant in ("acme", "beta", "zoo"):
        await create(stack, tenant)
    found, cursor = [], ""
    async with holding(stack) as http:
        while len(found) < 10:
            page = (await http.get(TENANTS, params={"limit": 3, "cursor": cursor})).json()
            found += [tenant["id"] for tenant in page["tenants"]]
            cursor = page["next_cursor"]
            if not cursor:
                break
    assert found == ["acme", "beta", "default", "zoo"]


async def test_an_inactive_tenant_is_refused_everywhere_within_a_second(make_stack) -> None:
    one, two = await make_stack(), await make_stack()
    secret = await create(one)
    two.headers = {"Authorization": f"Bearer {secret}"}
    await until_status(two, secret, 200)
    async with two.mcp() as agent, two.mcp("legacy") as older:
        for client in (agent, older):
            assert not (await client.call_tool("search_code", SEARCH)).is_error
        assert (await update(one, is_active=False))["is_active"] is False
        for stack in (one, two):
            await until_status(stack, secret, 401)
        for client in (agent, older):
            with pytest.raises(Exception, match="unauthenticated"):
                await client.call_tool("search_code", SEARCH)
    assert await search(one, one.secret) == 200
    await update(one, is_active=True)
    for stack in (one, two):
        await until_status(stack, secret, 200)


async def test_queues_that_tenants_share_show_to_operators_only(stack) -> None:
    secret = await create(stack)
    for shown_to, is_shown in ((secret, False), (stack.secret, True)):
        async with holding(stack, shown_to) as http:
            status = (await http.get("/api/v1/status")).json()
        assert bool(status["streams"]) is is_shown
        assert "streams" not in status["errors"]


@pytest.mark.parametrize("door", ["rest", "mcp"])
async def test_a_call_in_progress_is_refused_when_its_tenant_is_deactivated(stack, door) -> None:
    stack.headers = {"Authorization": f"Bearer {await create(stack)}"}
    asking = asyncio.create_task(ask_slowly(stack, door))
    await stack.fake.slow_began.wait()
    stack.headers = {}
    await update(stack, is_active=False)
    async with asyncio.timeout(EFFECT_S):
        while stack.tenants.is_active("acme"):
            await asyncio.sleep(0.01)
    stack.fake.slow_ends.set()
    assert await asking == "unauthenticated"


async def ask_slowly(stack, door: str) -> str:
    """Asks a question that the test ends, and returns the code of the error."""
    if door == "mcp":
        async with stack.mcp() as client:
            result = await client.call_tool("search_code", {"query": "slow"})
        return result.structured_content["error"]["code"]
    async with stack.rest() as http:
        return (await http.post("/api/v1/search", json={"query": "slow"})).json()["error"]["code"]


async def test_a_webhook_of_an_inactive_tenant_is_answered_as_one_of_no_tenant(stack) -> None:
    secret = await create(stack)
    repositories = Records(await open_bucket(stack.bus.js, names.KV_REPOSITORIES), Repository)
    repository = Repository(
        tenant="acme",
        repo=repo_id("acme/app"),
        name="acme/app",
        source="https://git.example.org/acme/app.git",
        created_at=datetime.now(UTC),
    )
    await repositories.put(repository.key, repository)
    async with holding(stack, secret) as http:
        kept = await http.put("/api/v1/repos/acme/app/secrets", json={"webhook_secret": "w" * 20})
    assert kept.status_code == 200, kept.text
    async with asyncio.timeout(EFFECT_S):
        while (await push(stack, "acme/app")).status_code != 202:
            await asyncio.sleep(0.01)
    await update(stack, is_active=False)
    async with asyncio.timeout(EFFECT_S):
        while (refused := await push(stack, "acme/app")).status_code == 202:
            await asyncio.sleep(0.01)
    unknown = await push(stack, "acme/none")
    assert refused.status_code == 401
    assert refused.text == unknown.text


async def push(stack, name: str):
    body = json.dumps(
        {
            "ref": "refs/heads/main",
            "after": "a" * 40,
            "repository": {"full_name": name, "default_branch": "main"},
        }
    ).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": f"sha256={hmac.new(b'w' * 20, body, hashlib.sha256).hexdigest()}",
    }
    async with stack.rest(**headers) as http:
        return await http.post(WEBHOOK, content=body)


async def test_a_lifted_limit_lets_a_refused_caller_through_at_once(make_stack) -> None:
    one, two = await make_stack(), await make_stack()
    secret = await create(one, plan="laptop", limits={"searches_per_minute": 2})
    await until_status(two, secret, 200)
    for stack in (one, two):
        await until_status(stack, secret, 429)
    await update(one, limits={"searches_per_minute": 50})
    for stack in (one, two):
        await until_status(stack, secret, 200)
    await update(one, limits={"searches_per_minute": 0})
    for stack in (one, two):
        await until_status(stack, secret, 429)
    await update(one, limits={"searches_per_minute": "plan"})
    for stack in (one, two):
        await until_status(stack, secret, 200)


async def test_a_removed_tenant_is_refused_and_its_id_is_taken(make_stack) -> None:
    one, two = await make_stack(), await make_stack()
    secret = await create(one)
    await until_status(two, secret, 200)
    async with holding(one) as http:
        first = await http.delete(f"{TENANTS}/acme")
        again = await http.delete(f"{TENANTS}/acme")
        for stack in (one, two):
            await until_status(stack, secret, 401)
        refused = [
            await http.patch(f"{TENANTS}/acme", json={"is_active": True}),
            await http.post("/api/v1/developer-tokens", json={"label": "ci", "tenant": "acme"}),
            await http.post(TENANTS, json={"id": "acme"}),
            await http.delete(f"{TENANTS}/none"),
        ]
        shown = (await http.get(f"{TENANTS}/acme")).json()
    assert first.status_code == 202
    assert first.json() == again.json() == shown
    assert shown["is_active"] is False
    assert shown["removal"]["deleted_at"] is None  # ingest does not run here
    assert [call.json()["error"]["code"] for call in refused] == [
        "tenant_not_found",
        "tenant_not_found",
        "tenant_exists",
        "tenant_not_found",
    ]


async def test_the_tenants_of_an_operator_and_of_the_first_token_stay(stack) -> None:
    await create(stack, "ops")
    async with holding(stack) as http:
        body = {"label": "op", "scopes": ["operator"], "tenant": "ops"}
        operator = (await http.post("/api/v1/developer-tokens", json=body)).json()["secret"]
    async with holding(stack, operator) as http:
        calls = [await http.delete(f"{TENANTS}/{tenant}") for tenant in ("ops", "default")]
    assert [call.json()["error"]["code"] for call in calls] == ["forbidden"] * 2


async def test_an_operator_cannot_lock_itself_out(stack) -> None:
    async with holding(stack) as http:
        refused = await http.patch(f"{TENANTS}/default", json={"is_active": False})
        assert (await http.patch(f"{TENANTS}/default", json={"name": "us"})).status_code == 200
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "body",
    [
        {"id": "Acme"},
        {"id": "a_b"},
        {"id": ""},
        {"id": "x" * 64},
        {},
        {"id": "acme", "plan": "gold"},
        {"id": "acme", "name": "x" * 101},
        {"id": "acme", "limits": {"overlay": 1}},
        {"id": "acme", "limits": {"overlays": -1}},
        {"id": "acme", "limits": {"overlays": "many"}},
        {"id": "acme", "is_active": True},
    ],
)
async def test_an_invalid_tenant_is_refused(stack, body) -> None:
    async with holding(stack) as http:
        response = await http.post(TENANTS, json=body)
        assert (await http.get(f"{TENANTS}/acme")).status_code == 404
    assert response.status_code == 400, response.text
    assert response.json()["error"]["code"] == "invalid_argument"


async def test_an_unknown_tenant_is_changed_by_no_one(stack) -> None:
    async with holding(stack) as http:
        calls = [
            await http.get(f"{TENANTS}/acme"),
            await http.patch(f"{TENANTS}/acme", json={"plan": "free"}),
            await http.post("/api/v1/developer-tokens", json={"label": "ci", "tenant": "acme"}),
        ]
        listed = (await http.get(TENANTS)).json()["tenants"]
    for call in calls:
        assert (call.status_code, call.json()["error"]["code"]) == (404, "tenant_not_found")
        assert call.json()["error"]["next_action"]
    assert [tenant["id"] for tenant in listed] == ["default"]


@pytest.mark.parametrize("scopes", [["read", "write"], ["admin"]])
async def test_only_an_operator_manages_tenants(stack, scopes) -> None:
    async with holding(stack) as http:
        created = await http.post("/api/v1/developer-tokens", json={"label": "x", "scopes": scopes})
    async with holding(stack, created.json()["secret"]) as http:
        calls = [
            await http.post(TENANTS, json={"id": "acme"}),
            await http.get(TENANTS),
            await http.get(f"{TENANTS}/default"),
            await http.patch(f"{TENANTS}/default", json={"plan": "team"}),
            await http.delete(f"{TENANTS}/default"),
        ]
    assert [call.status_code for call in calls] == [403] * 5


async def test_tenants_of_older_releases_get_a_record_at_the_start(make_stack) -> None:
    one = await make_stack()
    token = Token(tenant="old", label="old", created_at=datetime.now(UTC))
    await one.book.put(digest_of("prism_old"), token)
    two = await make_stack(plans=PlanSettings(plan_default="free"))
    async with holding(two) as http:
        assert (await http.get(f"{TENANTS}/old")).json()["plan"] == "free"
        assert (await http.get(f"{TENANTS}/default")).json()["plan"] == "laptop"


async def test_a_plan_that_is_gone_from_the_settings_becomes_the_default(make_stack) -> None:
    stack = await make_stack(plans=PlanSettings(plans={"gold": {"overlays": 7}}, plan_default="gold"))
    tenants = Records(await open_bucket(stack.bus.js, names.KV_TENANTS), Tenant)
    await tenants.put("acme", Tenant(tenant="acme", plan="silver", created_at=datetime.now(UTC)))
    async with holding(stack) as http:
        shown = (await http.get(f"{TENANTS}/acme")).json()
    assert (shown["plan"], shown["limits_in_effect"]) == ("silver", {"overlays": 7})
