"""Rate limits over several gateways on a real nats-server, over REST and over MCP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import nats
import pytest
from mcp import MCPError
from prometheus_client import CollectorRegistry

from prism_catalog.tenants import LAPTOP, PlanSettings, Tenants
from prism_contracts import names
from prism_gateway.callers import Caller
from prism_gateway.rates.limiter import Limiter, LimitMetrics
from prism_gateway.rates.policies import CallClass
from prism_runtime.bus import Bus
from prism_runtime.settings import ServiceSettings

pytest_plugins = ["gateway_stack"]

LIMIT = 60
RECOVERY_S = 120
SEARCH = {"query": "main"}


def plans(**limits: int) -> PlanSettings:
    return PlanSettings(plans={LAPTOP: limits})


def caller(name: str = "1", tenant: str = "acme") -> Caller:
    return Caller(tenant=tenant, scopes=frozenset(), id=f"token:{name}", label=name)


@asynccontextmanager
async def gateway(url: str, **limits: int) -> AsyncIterator[Limiter]:
    bus = Bus("gateway", ServiceSettings(nats_url=url))
    await bus.start()
    limiter = Limiter(Tenants(plans(**limits)), LimitMetrics(CollectorRegistry()))
    await limiter.open(bus, replicas=1)
    yield limiter
    async with asyncio.timeout(RECOVERY_S):  # a bus cannot be stopped before
        while not bus.broker.connection.is_connected:
            await asyncio.sleep(0.05)
    await bus.stop()


async def passed(limiter: Limiter, calls: int, by: Caller, kind: CallClass = CallClass.SEARCH) -> int:
    verdicts = await asyncio.gather(*(limiter.admit(by, kind) for _ in range(calls)))
    return sum(verdict.refused is None for verdict in verdicts)


async def test_two_gateways_together_let_exactly_the_limit_through(nats_server) -> None:
    limits = {"searches_per_minute": LIMIT}
    async with gateway(nats_server.url, **limits) as one, gateway(nats_server.url, **limits) as two:
        assert sum(await asyncio.gather(*(passed(each, 100, caller()) for each in (one, two)))) == LIMIT
        assert await passed(one, 10, caller()) + await passed(two, 10, caller()) == 0


async def test_two_gateways_in_turn_let_exactly_the_limit_through(nats_server) -> None:
    limits = {"searches_per_minute": LIMIT}
    async with gateway(nats_server.url, **limits) as one, gateway(nats_server.url, **limits) as two:
        calls = 0
        for _ in range(LIMIT):
            calls += await passed(one, 1, caller()) + await passed(two, 1, caller())
    # What one gateway reserved ahead and did not use may be missing.
    assert LIMIT * 3 // 4 <= calls <= LIMIT


async def test_a_day_has_its_limit_over_all_classes(nats_server) -> None:
    async with gateway(nats_server.url, requests_per_day=30) as one:
        async with gateway(nats_server.url, requests_per_day=30) as two:
            first = await passed(one, 20, caller())
            assert first + await passed(two, 20, caller(), CallClass.OTHER) == 30
        assert (await one.admit(caller(), CallClass.SEARCH)).refused.policy.name == "day"


async def test_one_token_gets_its_share_of_the_limit(nats_server) -> None:
    async with gateway(nats_server.url, searches_per_minute=10, token_percent=50) as one:
        assert await passed(one, 20, caller("a")) == 5
        assert await passed(one, 20, caller("b")) == 5
        assert await passed(one, 20, caller("c")) == 0


async def test_a_refused_call_counts_against_no_other_limit(nats_server) -> None:
    limits = {"searches_per_minute": 5, "requests_per_minute": 20}
    async with gateway(nats_server.url, **limits) as one:
        assert await passed(one, 50, caller()) == 5
        assert await passed(one, 50, caller(), CallClass.OTHER) == 15


async def test_tenants_have_limits_of_their_own(nats_server) -> None:
    async with gateway(nats_server.url, searches_per_minute=5) as one:
        assert await passed(one, 20, caller()) == 5
        assert await passed(one, 20, caller(tenant="other")) == 5


async def test_limits_go_on_in_each_gateway_while_nats_is_down(nats_server) -> None:
    async with gateway(nats_server.url, searches_per_minute=5) as one:
        assert await passed(one, 1, caller()) == 1
        nats_server.kill()
        assert 4 <= await passed(one, 20, caller()) <= 5
        assert await passed(one, 20, caller(tenant="other")) == 5
        nats_server.start()


async def test_the_plan_of_a_laptop_asks_nats_nothing(nats_server) -> None:
    async with gateway(nats_server.url) as one:
        assert await passed(one, 2_000, caller()) == 2_000
    connection = await nats.connect(nats_server.url)
    for stream in (names.LIMITS_MINUTE, names.LIMITS_DAY):
        assert (await connection.jetstream().stream_info(stream)).state.last_seq == 0
    await connection.close()


async def test_rest_refuses_with_the_time_to_come_back(make_stack) -> None:
    stack = await make_stack(plans=plans(searches_per_minute=2, requests_per_day=1_000))
    async with stack.rest() as http:
        answers = [await http.post("/api/v1/search", json=SEARCH) for _ in range(3)]
        other = await http.get("/api/v1/whoami")
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].headers["RateLimit-Policy"] == '"search";q=2;w=60, "day";q=1000;w=86400'
    assert answers[1].headers["RateLimit"].startswith('"search";r=0;t=')
    error = answers[2].json()["error"]
    assert error["code"] == "rate_limited"
    assert answers[2].headers["Retry-After"] == str(error["details"]["retry_after_s"])
    assert answers[2].headers["RateLimit"] == f'"search";r=0;t={answers[2].headers["Retry-After"]}'
    assert other.status_code == 200


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_says_when_to_come_back(make_stack, mode) -> None:
    stack = await make_stack(plans=plans(searches_per_minute=1))
    async with stack.mcp(mode) as client:
        assert not (await client.call_tool("search_code", SEARCH)).is_error
        refused = await client.call_tool("search_code", SEARCH)
        assert not (await client.call_tool("ping", {})).is_error
    assert refused.is_error
    assert refused.content[0].text.startswith("rate_limited: ")
    details = refused.structured_content["error"]["details"]
    assert f"Retry in {details['retry_after_s']} s." in refused.content[0].text


async def test_a_tool_call_carries_the_headers(make_stack) -> None:
    stack = await make_stack(plans=plans(searches_per_minute=1))
    version = "2026-07-28"
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "search_code", "arguments": SEARCH, "_meta": meta}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "MCP-Method": "tools/call",
        "MCP-Name": "search_code",
    }
    async with stack.rest(**headers) as http:
        answers = [await http.post("/mcp", json=call) for _ in range(2)]
    assert answers[0].headers["RateLimit"].startswith('"search";r=0;')
    assert int(answers[1].headers["Retry-After"]) >= 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_listing_tools_counts_as_a_request(make_stack, mode) -> None:
    stack = await make_stack(plans=plans(requests_per_minute=1))
    async with stack.mcp(mode) as client:
        await client.list_tools()
    async with stack.mcp(mode) as client:
        with pytest.raises(MCPError, match="rate_limited"):
            await client.list_tools()


async def test_an_address_without_a_token_is_limited(make_stack) -> None:
    stack = await make_stack(unauthenticated_per_minute=3)
    async with stack.rest(Authorization="Bearer prism_wrong") as http:
        codes = [(await http.get("/api/v1/whoami")).status_code for _ in range(4)]
        refused = await http.post("/mcp", json={})
    async with stack.rest() as http:
        assert (await http.get("/api/v1/whoami")).status_code == 200
    assert codes == [401, 401, 401, 429]
    assert refused.status_code == 429
    assert refused.json()["error"]["data"]["code"] == "rate_limited"
    assert int(refused.headers["Retry-After"]) >= 1
