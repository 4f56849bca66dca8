"""Tokens at the gateway: who is admitted, and how soon a revocation takes effect."""

import asyncio
import hashlib
import logging
from datetime import UTC, datetime, timedelta

import pytest
from mcp import MCPError

from prism_catalog.tenants import PlanSettings, Tenants
from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Tenant
from prism_gateway.tokens import TokenBook
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

OTHER = "prism_other"
REVOCATION_S = 1.0
DEADLINE_S = 120


async def status(stack, secret: str = "") -> int:
    async with stack.rest(Authorization=f"Bearer {secret or stack.secret}") as http:
        return (await http.get("/api/v1/whoami")).status_code


async def until_status(stack, expected: int, secret: str = "") -> None:
    async with asyncio.timeout(REVOCATION_S):
        while await status(stack, secret) != expected:
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Basic cHJpc206eA==", "Bearer prism_wrong", "Bearer {digest}", "{secret}"]
)
async def test_requests_without_a_valid_token_are_refused(stack, header) -> None:
    digest = hashlib.sha256(stack.secret.encode()).hexdigest()
    async with stack.rest(Authorization=header.format(digest=digest, secret=stack.secret)) as http:
        for path in ("/api/v1/whoami", "/api/v1/nothing", "/mcp"):
            response = await http.post(path, json={})
            assert response.status_code == 401, path
            assert response.headers["WWW-Authenticate"] == "Bearer"
            error = response.json()["error"]
            error = error.get("data", error)
            assert error["code"] == "unauthenticated"
            assert "Bearer prism_" in error["next_action"]


async def test_an_mcp_client_learns_why_its_token_is_refused(stack) -> None:
    stack.headers = {"Authorization": "Bearer prism_wrong"}
    with pytest.raises(ExceptionGroup) as failure:
        async with stack.mcp(mode="legacy") as client:
            await client.list_tools()
    message = str(_innermost(failure.value))
    assert "unauthenticated: The token is unknown, expired or revoked." in message
    assert "prism connect" in message


def _innermost(error: BaseException) -> BaseException:
    return _innermost(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


async def test_a_missing_header_is_401_too(stack) -> None:
    stack.headers = {}
    async with stack.rest() as http:
        assert (await http.get("/api/v1/whoami")).status_code == 401


async def test_a_revoked_token_ends_within_a_second(stack) -> None:
    await stack.change_token(OTHER)
    assert await status(stack, OTHER) == 200
    await stack.change_token(OTHER, revoked_at=datetime.now(UTC))
    await until_status(stack, 401, OTHER)
    await stack.change_token(OTHER, revoked_at=None)
    await until_status(stack, 200, OTHER)
    await stack.delete_token(OTHER)
    await until_status(stack, 401, OTHER)
    assert await status(stack) == 200


async def test_a_revocation_applies_at_once_after_an_outage(stack, nats_server) -> None:
    assert await status(stack) == 200
    nats_server.kill()
    await asyncio.sleep(0.2)
    assert await status(stack) == 200
    nats_server.start()
    await stack.reconnected()
    await stack.change_token(stack.secret, revoked_at=datetime.now(UTC))
    await until_status(stack, 401)


async def test_an_expired_token_is_refused(stack) -> None:
    now = datetime.now(UTC)
    await stack.change_token(OTHER, expires_at=now + timedelta(hours=1))
    assert await status(stack, OTHER) == 200
    await stack.change_token(OTHER, expires_at=now)
    await until_status(stack, 401, OTHER)


async def test_an_mcp_session_ends_with_its_token(stack) -> None:
    await stack.change_token(OTHER)
    stack.headers = {"Authorization": f"Bearer {OTHER}"}
    async with stack.mcp() as client:
        assert not (await client.call_tool("ping", {})).is_error
        await stack.change_token(OTHER, expires_at=datetime.now(UTC))
        await until_status(stack, 401, OTHER)
        with pytest.raises(MCPError, match="unauthenticated"):
            await client.call_tool("ping", {})


async def test_an_inactive_tenant_cannot_call(stack) -> None:
    await stack.change_token(OTHER)
    assert await status(stack, OTHER) == 200  # without a record it is active
    tenants = Records(await open_bucket(stack.bus.js, names.KV_TENANTS), Tenant)
    acme = Tenant(tenant="acme", plan="free", created_at=datetime.now(UTC))
    await tenants.put("acme", acme.model_copy(update={"is_active": False}))
    await until_status(stack, 401, OTHER)
    assert await status(stack) == 200
    await tenants.put("acme", acme)
    await until_status(stack, 200, OTHER)


async def test_a_revoked_first_token_stays_revoked_at_the_next_start(stack) -> None:
    await stack.change_token(stack.secret, revoked_at=datetime.now(UTC))
    assert await (await started_again(stack)).find(stack.secret) is None


async def test_the_first_token_of_an_older_release_gets_the_new_scopes(stack) -> None:
    await stack.change_token(stack.secret, scopes=("read", "write"))
    caller = await (await started_again(stack)).find(stack.secret)
    assert caller.scopes == {"read", "write", "admin", "operator"}
    assert caller.id == f"token:{hashlib.sha256(stack.secret.encode()).hexdigest()[:12]}"


async def test_the_first_tenant_has_the_plan_without_limits(stack) -> None:
    tenants = Records(await open_bucket(stack.bus.js, names.KV_TENANTS), Tenant)
    record = await tenants.get("default")
    assert (record.plan, record.is_active) == ("laptop", True)


async def test_no_token_is_accepted_while_nats_cannot_say_for_long_whether_it_is_revoked(
    stack, nats_server
) -> None:
    tokens = await started_again(stack, unconfirmed_s_max=1.0)

    async def is_accepted() -> bool:
        try:
            return await tokens.find(stack.secret) is not None
        except PrismError as error:
            if error.code is not ErrorCode.UNAVAILABLE:
                raise
            return False

    async def until_accepted(expected: bool) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while await is_accepted() is not expected:
                await asyncio.sleep(0.02)

    assert await is_accepted()
    nats_server.freeze()
    assert await is_accepted()  # an election may take this long
    await until_accepted(expected=False)
    nats_server.thaw()
    await until_accepted(expected=True)


async def started_again(stack, **options: float) -> TokenBook:
    tenants = Tenants(PlanSettings())
    tokens = TokenBook(tenants, **options)
    await tenants.open(stack.bus, replicas=1)
    await tokens.open(stack.bus, replicas=1)
    await tokens.bootstrap(stack.settings.bootstrap_token_sha256, "default")
    return tokens


async def test_the_tenant_follows_from_the_token(stack) -> None:
    await stack.change_token(OTHER)
    stack.headers = {"Authorization": f"Bearer {OTHER}"}
    async with stack.rest() as http, stack.mcp() as client:
        await http.post("/api/v1/search", json={"query": "x"})
        assert stack.fake.last().tenant == "acme"
        await client.call_tool("search_code", {"query": "x"})
        assert stack.fake.last().tenant == "acme"
        assert (await client.call_tool("whoami", {})).structured_content["label"] == "laptop"


async def test_a_read_token_cannot_write(stack) -> None:
    await stack.change_token(OTHER, scopes=("read",))
    stack.headers = {"Authorization": f"Bearer {OTHER}"}
    async with stack.rest() as http, stack.mcp() as client:
        for path in ("/api/v1/repos", "/api/v1/ingest/snapshots", "/api/v1/ingest/snapshots/j/packs"):
            response = await http.post(path, json={"url": "https://x"}, headers={"X-Prism-Pack": "0"})
            assert response.status_code == 403, path
            assert response.json()["error"]["code"] == "forbidden"
        result = await client.call_tool("index_repository", {"url": "https://x"})
        assert result.is_error
        assert result.structured_content["error"]["code"] == "forbidden"
    assert not stack.fake.asked


async def test_a_token_is_never_logged(stack, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    await status(stack)
    await status(stack, "prism_wrong_and_secret")
    assert stack.secret not in caplog.text
    assert "wrong_and_secret" not in caplog.text
