"""Sign-on through a real OpenID provider: the official MCP client, REST, rotation of keys, outages."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx2
import mcp.client.session
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from oidc_provider import SUBJECT, OidcProvider, Person, running

from prism_contracts import names
from prism_contracts.records import Tenant
from prism_gateway.signon.keys import RETRY_S
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

METADATA = "/.well-known/oauth-protected-resource"
MODERN, HANDSHAKE = "2026-07-28", "2025-06-18"
CREATED = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["RS256"])
def provider(request) -> Iterator[OidcProvider]:
    with running(algorithm=request.param) as found:
        yield found


@pytest.fixture(params=[MODERN, HANDSHAKE])
def revision(request, monkeypatch) -> str:
    """The revision of MCP that the client speaks."""
    monkeypatch.setattr(mcp.client.session, "LATEST_HANDSHAKE_VERSION", HANDSHAKE)
    return request.param


@pytest.fixture
def start(make_stack, provider):
    """Starts a gateway that accepts tokens of the provider."""

    async def make(tenant: str = "acme", *, fields: dict | None = None, **settings):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        issuer = {"issuer": provider.issuer} | (fields or {})
        stack = await make_stack(
            port=port,
            **{"public_url": f"http://127.0.0.1:{port}", "jwt_issuers": [issuer], "jwt_allow_private": True}
            | settings,
        )
        if tenant:
            await set_tenant(stack, tenant)
        return stack

    return make


async def set_tenant(stack, tenant: str, *, is_active: bool = True) -> None:
    bucket = Records(await open_bucket(stack.bus.js, names.KV_TENANTS), Tenant)
    record = Tenant(tenant=tenant, plan="laptop", created_at=CREATED, is_active=is_active)
    await bucket.put(tenant, record)


def resource(stack) -> str:
    return f"{stack.url}/mcp"


async def status(stack, token: str) -> int:
    async with stack.rest(Authorization=f"Bearer {token}") as http:
        return (await http.get("/api/v1/whoami")).status_code


async def until_status(stack, token: str, expected: int) -> None:
    async with asyncio.timeout(120):
        while await status(stack, token) != expected:
            await asyncio.sleep(0.02)


@asynccontextmanager
async def client_of(stack, person: Person, revision: str = MODERN, query: str = "") -> AsyncIterator[Client]:
    headers = {"X-Prism-Structured": "true"}
    async with httpx2.AsyncClient(auth=person.auth, headers=headers, timeout=30) as http:
        mode = "legacy" if revision == HANDSHAKE else revision
        async with Client(
            streamable_http_client(resource(stack) + query, http_client=http), mode=mode
        ) as client:
            yield client


async def test_an_mcp_client_signs_on_and_asks(start, provider, revision) -> None:
    stack = await start()
    person = Person(resource(stack))
    async with client_of(stack, person, revision) as client:
        if revision == HANDSHAKE:
            assert client.protocol_version == HANDSHAKE
        result = await client.call_tool("search_code", {"query": "main"})
        assert not result.is_error
        assert stack.fake.last().tenant == "acme"
        who = (await client.call_tool("whoami", {})).structured_content
        assert who["tenant"] == "acme"
        assert who["label"] == SUBJECT
        assert who["scopes"] == ["read"]
    (asked,) = person.asked
    assert asked["scope"] == "prism.read offline_access"  # the last one is the client's own wish
    assert asked["resource"] == resource(stack)
    assert asked["code_challenge_method"] == "S256"


async def test_a_query_is_no_part_of_the_resource(start, revision) -> None:
    stack = await start()
    person = Person(f"{resource(stack)}?toolsets=all")
    async with client_of(stack, person, revision, "?toolsets=all") as client:
        assert "index_repository" in {tool.name for tool in (await client.list_tools()).tools}
    assert [asked["resource"] for asked in person.asked] == [resource(stack)]


async def test_a_client_steps_up_to_a_tool_that_needs_more(start, revision) -> None:
    stack = await start()
    person = Person(resource(stack))
    async with client_of(stack, person, revision) as client:
        assert not (await client.call_tool("whoami", {})).is_error
        result = await client.call_tool("index_repository", {"url": "https://x.example/a/b"})
        if revision == HANDSHAKE:  # its requests do not name the tool outside of the body
            assert result.structured_content["error"]["code"] == "forbidden"
            assert len(person.pages) == 1
            return
        assert not result.is_error
        assert (await client.call_tool("whoami", {})).structured_content["scopes"] == ["read", "write"]
    wanted = [set(asked["scope"].split()) - {"offline_access"} for asked in person.asked]
    assert wanted == [{"prism.read"}, {"prism.read", "prism.write"}]


async def test_a_client_refreshes_without_a_new_sign_on(start, revision) -> None:
    stack = await start()
    person = Person(resource(stack))
    async with client_of(stack, person, revision) as client:
        assert not (await client.call_tool("whoami", {})).is_error
        first = person.tokens
        person.auth.context.token_expiry_time = time.time() - 1
        assert not (await client.call_tool("whoami", {})).is_error
    assert person.tokens.access_token != first.access_token
    assert person.tokens.refresh_token != first.refresh_token
    assert len(person.pages) == 1


async def test_an_expired_token_leads_to_a_sign_on(start, provider) -> None:
    stack = await start()
    expired = provider.token(resource(stack), exp=1_700_000_000)
    assert await status(stack, expired) == 401
    person = Person(resource(stack))
    async with client_of(stack, person) as client:
        assert not (await client.call_tool("whoami", {})).is_error
        person.auth.context.current_tokens.access_token = expired
        assert not (await client.call_tool("whoami", {})).is_error
    assert len(person.pages) == 2


@pytest.mark.parametrize("provider", ["RS256", "ES256"], indirect=True)
async def test_both_algorithms_are_accepted_over_rest(start, provider) -> None:
    stack = await start()
    async with stack.rest(Authorization=f"Bearer {provider.token(resource(stack))}") as http:
        who = (await http.get("/api/v1/whoami")).json()
        assert (who["tenant"], who["label"]) == ("acme", SUBJECT)
        assert (await http.post("/api/v1/repos", json={"url": "https://x"})).status_code == 403
    assert await status(stack, provider.token("https://other.example/mcp")) == 401
    assert await status(stack, stack.secret) == 200
    assert provider.key_fetches == 1


async def test_the_metadata_names_the_resource_and_the_issuer(start, provider) -> None:
    stack = await start()
    async with httpx2.AsyncClient(base_url=stack.url) as http:
        for path in (METADATA, f"{METADATA}/mcp"):
            reply = await http.get(path)
            assert reply.json() == {
                "resource": resource(stack),
                "resource_name": "Prism",
                "authorization_servers": [provider.issuer],
                "scopes_supported": ["prism.read"],
                "bearer_methods_supported": ["header"],
            }
            assert reply.headers["access-control-allow-origin"] == "*"
            assert reply.headers["cache-control"] == "public, max-age=300"
            before = await http.options(
                path, headers={"Origin": "https://app", "Access-Control-Request-Method": "GET"}
            )
            assert before.status_code == 204
            assert before.headers["access-control-allow-origin"] == "*"


async def test_a_path_before_mcp_is_part_of_the_resource(start) -> None:
    stack = await start(public_url="https://tools.example.com/prism/")
    async with httpx2.AsyncClient(base_url=stack.url) as http:
        challenge = (await http.post("/mcp", json={})).headers["www-authenticate"]
        assert f'resource_metadata="https://tools.example.com{METADATA}/prism/mcp"' in challenge
        reply = await http.get(f"{METADATA}/prism/mcp")
        assert reply.json()["resource"] == "https://tools.example.com/prism/mcp"


async def test_challenges_follow_rfc_6750(start, provider) -> None:
    stack = await start()
    where = f'resource_metadata="{stack.url}{METADATA}/mcp"'
    call = {"Mcp-Method": "tools/call", "Mcp-Name": "index_repository"}
    reader = {"Authorization": f"Bearer {provider.token(resource(stack))}"}
    nothing = {"Authorization": f"Bearer {provider.token(resource(stack), scope='')}"}
    cases = [
        ({}, "/mcp", 401, f'Bearer {where}, scope="prism.read"'),
        ({"Authorization": "Basic eDp5"}, "/mcp", 401, f'Bearer {where}, scope="prism.read"'),
        (
            {"Authorization": "Bearer x.y.z"},
            "/mcp",
            401,
            f'Bearer error="invalid_token", {where}, scope="prism.read"',
        ),
        (
            {"Authorization": "Bearer prism_x"},
            "/mcp",
            401,
            f'Bearer error="invalid_token", {where}, scope="prism.read"',
        ),
        (
            reader | call,
            "/mcp",
            403,
            f'Bearer error="insufficient_scope", {where}, scope="prism.read prism.write"',
        ),
        (nothing | call, "/mcp", 403, f'Bearer error="insufficient_scope", {where}, scope="prism.write"'),
        (
            nothing | call | {"Mcp-Name": "search_code"},
            "/mcp",
            403,
            f'Bearer error="insufficient_scope", {where}, scope="prism.read"',
        ),
        ({}, "/api/v1/whoami", 401, "Bearer"),
        ({"Authorization": "Bearer x.y.z"}, "/api/v1/whoami", 401, 'Bearer error="invalid_token"'),
    ]
    async with httpx2.AsyncClient(base_url=stack.url) as http:
        for headers, path, code, challenge in cases:
            reply = await http.post(path, json={}, headers=headers)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (code, challenge)
        # The reason is not in the answer.
        texts = set()
        for token in (
            "x.y.z",
            provider.token("elsewhere"),
            provider.token(resource(stack), exp=1_700_000_000),
        ):
            reply = await http.post("/mcp", json={}, headers={"Authorization": f"Bearer {token}"})
            texts.add(reply.text)
        assert len(texts) == 1
        in_query = await http.post(f"/mcp?access_token={provider.token(resource(stack))}", json={})
        assert in_query.status_code == 401


async def test_a_header_that_names_another_tool_allows_nothing(start, provider) -> None:
    stack = await start()
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "index_repository", "arguments": {"url": "https://x.example/a/b"}},
    }
    headers = {
        "Authorization": f"Bearer {provider.token(resource(stack))}",
        "Accept": "application/json, text/event-stream",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "search_code",
    }
    async with httpx2.AsyncClient(base_url=stack.url) as http:
        for version in (MODERN, HANDSHAKE):
            reply = await http.post("/mcp", json=call, headers=headers | {"Mcp-Protocol-Version": version})
            assert reply.status_code == 400 if version == MODERN else '"isError":true' in reply.text
    assert not stack.fake.asked


async def test_a_developer_token_gets_the_tool_error_as_before(start) -> None:
    stack = await start()
    await stack.change_token("prism_other", scopes=("read",))
    stack.headers = {"Authorization": "Bearer prism_other"}
    async with stack.mcp() as client:
        result = await client.call_tool("index_repository", {"url": "https://x"})
        assert result.structured_content["error"]["code"] == "forbidden"


async def test_an_issuer_of_machines_is_not_where_people_sign_on(start, provider) -> None:
    stack = await start(fields={"sign_on": False})
    assert await status(stack, provider.token(resource(stack))) == 200
    async with httpx2.AsyncClient(base_url=stack.url) as http:
        assert (await http.get(METADATA)).status_code == 404
        assert (await http.post("/mcp", json={})).headers["www-authenticate"] == "Bearer"
        reply = await http.post("/mcp", json={}, headers={"Authorization": "Bearer x.y.z"})
        assert reply.headers["www-authenticate"] == 'Bearer error="invalid_token"'


async def test_without_an_issuer_there_is_no_metadata(stack, provider) -> None:
    async with httpx2.AsyncClient(base_url=stack.url) as http:
        for path in (METADATA, f"{METADATA}/mcp"):
            assert (await http.get(path)).status_code == 404
        for headers in ({}, {"Authorization": f"Bearer {provider.token(resource(stack))}"}):
            reply = await http.post("/mcp", json={}, headers=headers)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert not provider.requests


async def test_the_tenant_must_be_known_and_active(start, provider) -> None:
    stack = await start(tenant="")
    token = provider.token(resource(stack))
    assert await status(stack, token) == 401
    await set_tenant(stack, "acme")
    await until_status(stack, token, 200)
    await set_tenant(stack, "acme", is_active=False)
    await until_status(stack, token, 401)
    assert await status(stack, provider.token(resource(stack), tid="default")) == 200


async def test_a_gateway_without_records_admits_its_own_tenant(start, provider) -> None:
    stack = await start(tenant="", bootstrap_token_sha256="")
    assert await status(stack, provider.token(resource(stack), tid="default")) == 200
    assert await status(stack, provider.token(resource(stack), tid="other")) == 401


async def test_a_tenant_is_created_on_first_sight_if_the_setting_says_so(start, provider) -> None:
    stack = await start(tenant="", jwt_make_tenants=True)
    assert await status(stack, provider.token(resource(stack))) == 200
    bucket = Records(await open_bucket(stack.bus.js, names.KV_TENANTS), Tenant)
    made = await bucket.get("acme")
    assert made
    assert made.is_active
    await set_tenant(stack, "acme", is_active=False)
    await until_status(stack, provider.token(resource(stack)), 401)


async def test_a_rotated_key_is_found_over_http(start, provider) -> None:
    stack = await start()
    old = provider.token(resource(stack))
    assert await status(stack, old) == 200
    provider.rotate()
    assert await status(stack, provider.token(resource(stack))) == 200
    assert await status(stack, old) == 200
    foreign = OidcProvider()
    made_up = [foreign.token(resource(stack), iss=provider.issuer) for _ in range(20)]
    assert set(await asyncio.gather(*(status(stack, token) for token in made_up))) == {401}
    assert provider.key_fetches == 2


async def test_known_keys_serve_while_the_provider_is_down(start, provider) -> None:
    stack = await start()
    assert await status(stack, provider.token(resource(stack))) == 200
    provider.stop()
    assert await status(stack, provider.token(resource(stack), jti="new")) == 200
    provider.rotate()
    async with stack.rest(Authorization=f"Bearer {provider.token(resource(stack))}") as http:
        reply = await http.get("/api/v1/whoami")
        assert reply.status_code == 503
        assert reply.json()["error"]["code"] == "unavailable"
        assert "Retry-After" in reply.headers
        assert "WWW-Authenticate" not in reply.headers


async def test_a_gateway_that_started_during_an_outage_recovers(start, provider) -> None:
    provider.stop()
    stack = await start()
    token = provider.token(resource(stack))
    assert await status(stack, token) == 503
    provider.start()
    async with asyncio.timeout(RETRY_S + 10):
        while await status(stack, token) != 200:
            await asyncio.sleep(0.2)


async def test_private_networks_need_a_setting(start, provider, caplog) -> None:
    stack = await start(jwt_allow_private=False)
    assert await status(stack, provider.token(resource(stack))) == 503
    assert "PRISM_JWT_ALLOW_PRIVATE" in caplog.text
    assert not provider.requests
