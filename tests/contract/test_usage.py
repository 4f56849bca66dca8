"""UsageLog over a real nats-server: what two gateways counted, read over REST."""

import asyncio

from prometheus_client import CollectorRegistry

from prism_gateway.accounting.facts import CallFacts
from prism_gateway.accounting.usage import UsageLog, UsageMetrics
from prism_gateway.callers import Caller
from prism_runtime.bus import Bus

pytest_plugins = ["gateway_stack"]

OPERATOR_ONLY = {"tenant": "*"}
RECOVERY_S = 120


async def usage_of(http, **params):
    answer = await http.get("/api/v1/usage", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_every_call_of_rest_and_mcp_counts_once(stack) -> None:
    async with stack.rest() as http:
        for _ in range(3):
            await http.post("/api/v1/search", json={"query": "main"})
        await http.post("/api/v1/search", json={"query": " "})
        async with stack.mcp() as client:
            await client.call_tool("search_code", {"query": "main"})
            await client.call_tool("read_file", {"file_path": "no/such.py"})
        report = await usage_of(http)
    groups = {group["key"]: group for group in report["groups"]}
    assert (groups["POST /search"]["calls"], groups["POST /search"]["errors"]) == (4, 1)
    assert groups["search_code"]["calls"] == 1
    assert groups["search_code"]["tokens_out"] > 0
    assert groups["read_file"]["errors"] == 1
    assert report["total"]["calls"] == sum(group["calls"] for group in report["groups"])


async def test_calls_are_counted_by_where_they_come_in(stack) -> None:
    same_origin = {"Sec-Fetch-Site": "same-origin"}
    async with stack.rest() as http:
        await http.post("/api/v1/search", json={"query": "main"})
        async with stack.mcp() as client:
            await client.call_tool("search_code", {"query": "main"})
        async with stack.rest() as browser:
            browser.headers.pop("Authorization")
            await browser.post("/login", data={"token": stack.secret}, headers=same_origin)
            for _ in range(2):
                await browser.get("/search?q=main")
            page = (await browser.get("/usage?days=1&by=source")).text
        groups = {group["key"]: group["calls"] for group in (await usage_of(http, by="source"))["groups"]}
        calls = {group["key"]: group["calls"] for group in (await usage_of(http))["groups"]}
    assert groups["mcp"] >= 1
    assert (groups["rest"], groups["console"]) == (1, 3)
    assert calls["POST /search"] == 3
    assert "<code>console</code>" in page


async def test_usage_of_a_repository_shows_who_asked(stack) -> None:
    same_origin = {"Sec-Fetch-Site": "same-origin"}
    async with stack.rest() as http:
        await http.post("/api/v1/search", json={"query": "main", "repo": "acme/app"})
        report = await usage_of(http, by="caller", repository="acme/app", call="POST /search")
        assert report["of"] == {"repository": "acme/app", "caller": "", "call": "POST /search"}
        [group] = report["groups"]
        assert (group["calls"], report["total"]["calls"]) == (1, 1)
        assert not (await usage_of(http, repository="acme/other"))["groups"]
        async with stack.rest() as browser:
            browser.headers.pop("Authorization")
            await browser.post("/login", data={"token": stack.secret}, headers=same_origin)
            page = (await browser.get("/usage?days=1&by=repository")).text
            narrowed = (await browser.get("/usage?days=1&by=caller&repository=acme/app")).text
    assert 'href="/usage?days=1&amp;by=caller&amp;repository=acme/app"' in page
    assert "Only calls of the repository <code>acme/app</code>" in narrowed


async def test_errors_have_their_codes(stack) -> None:
    async with stack.rest() as http:
        await http.post("/api/v1/search", json={"query": "main", "repo": "no/such"})
        async with stack.mcp() as client:
            await client.call_tool("read_file", {"file_path": "no/such.py"})
        codes = {group["key"] for group in (await usage_of(http, by="code"))["groups"]}
    assert {"repo_not_found", "file_not_found", ""} <= codes | {""}


async def test_calls_without_a_token_are_counted_for_operators(stack) -> None:
    async with stack.rest(Authorization="Bearer prism_wrong") as http:
        await http.get("/api/v1/whoami")
    async with stack.rest() as http:
        report = await usage_of(http, tenant="-", by="code")
    assert [(group["key"], group["calls"]) for group in report["groups"]] == [("unauthenticated", 1)]


async def test_an_admin_sees_its_own_tenant_only(stack) -> None:
    secret = "prism_" + "a" * 40
    await stack.change_token(secret, scopes=("read", "admin"))
    async with stack.rest() as http:
        await http.post("/api/v1/search", json={"query": "main"})
    async with stack.rest(Authorization=f"Bearer {secret}") as http:
        await http.post("/api/v1/grep", json={"pattern": "main"})
        assert [group["key"] for group in (await usage_of(http))["groups"]] == ["POST /grep"]
        for tenant in ("default", "*", "-"):
            assert (await http.get("/api/v1/usage", params={"tenant": tenant})).status_code == 403
    async with stack.rest() as http:
        keys = {group["key"] for group in (await usage_of(http, tenant="*", by="tenant"))["groups"]}
    assert keys == {"acme", "default"}


async def test_a_token_of_some_repositories_sees_no_usage(stack) -> None:
    secret = "prism_" + "b" * 40
    await stack.change_token(secret, scopes=("admin",), repos=("acme/app",))
    async with stack.rest(Authorization=f"Bearer {secret}") as http:
        assert (await http.get("/api/v1/usage")).status_code == 403


async def test_gateways_add_up_and_a_restart_adds_nothing_twice(stack) -> None:
    caller = Caller(tenant="default", scopes=frozenset(), id="token:x", label="x")
    for _ in range(2):
        bus = Bus("gateway", stack.settings)
        await bus.start()
        usage = UsageLog(UsageMetrics(CollectorRegistry()))
        await usage.open(bus, days=90, bytes_max=10_000_000, replicas=1)
        async with usage.storing():
            for _ in range(5):
                usage.count(caller, CallFacts(call="find_path"), 0.0)
                await usage.store()
        await bus.stop()
    async with stack.rest() as http:
        groups = {group["key"]: group["calls"] for group in (await usage_of(http))["groups"]}
    assert groups["find_path"] == 10


async def test_usage_is_stored_after_an_outage(stack, nats_server) -> None:
    usage = UsageLog(UsageMetrics(CollectorRegistry()))
    await usage.open(stack.bus, days=90, bytes_max=10_000_000, replicas=1)
    caller = Caller(tenant="default", scopes=frozenset(), id="token:x", label="x")
    nats_server.kill()
    usage.count(caller, CallFacts(call="find_path"), 0.0)
    await usage.store()
    nats_server.start()
    await stack.reconnected()
    async with asyncio.timeout(RECOVERY_S):
        while "find_path" not in await calls_of(stack):
            await usage.store()


async def calls_of(stack) -> set[str]:
    async with stack.rest() as http:
        answer = await http.get("/api/v1/usage")
        return {group["key"] for group in answer.json().get("groups", ())}
