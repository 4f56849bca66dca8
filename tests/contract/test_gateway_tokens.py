"""Developer tokens over REST: who may create, see and revoke which, and how soon it takes effect."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.token_secrets import digest_of

pytest_plugins = ["gateway_stack"]

TOKENS = "/api/v1/developer-tokens"
REVOCATION_S = 1.0


@asynccontextmanager
async def holding(stack, secret: str = ""):
    async with stack.rest(Authorization=f"Bearer {secret or stack.secret}") as http:
        yield http


async def create(stack, by: str = "", **body):
    async with holding(stack, by) as http:
        return await http.post(TOKENS, json={"label": "ci", **body})


async def created(stack, by: str = "", **body) -> tuple[str, str]:
    response = await create(stack, by, **body)
    assert response.status_code == 201, response.text
    return response.json()["secret"], response.json()["token"]["id"]


async def listed(stack, secret: str = "", **query) -> dict[str, dict]:
    async with holding(stack, secret) as http:
        response = await http.get(TOKENS, params=query)
    assert response.status_code == 200, response.text
    return {token["id"]: token for token in response.json()["tokens"]}


async def revoke(stack, token: str, secret: str = "", **query):
    async with holding(stack, secret) as http:
        return await http.delete(f"{TOKENS}/{token}", params=query)


async def is_admitted(stack, secret: str) -> bool:
    async with holding(stack, secret) as http:
        return (await http.get("/api/v1/whoami")).status_code == 200


async def test_a_token_is_created_listed_and_revoked(stack) -> None:
    expires_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    response = await create(
        stack, scopes=["write", "read"], repos=["acme/app", "@backend"], expires_at=expires_at.isoformat()
    )
    assert response.status_code == 201
    assert response.headers["Cache-Control"] == "no-store"
    secret, token = response.json()["secret"], response.json()["token"]
    assert token["id"] == digest_of(secret)[:12]
    assert await is_admitted(stack, secret)
    found = (await listed(stack))[token["id"]]
    assert found == token
    assert (found["scopes"], found["repos"]) == (["read", "write"], ["acme/app", "@backend"])
    assert datetime.fromisoformat(found["expires_at"]) == expires_at
    assert found["created_by"] == f"token:{digest_of(stack.secret)[:12]}"
    first = await revoke(stack, token["id"])
    again = await revoke(stack, token["id"])
    assert first.json() == again.json()
    assert not await is_admitted(stack, secret)
    assert (await listed(stack))[token["id"]]["revoked_at"]


async def test_the_secret_is_stored_and_listed_nowhere(stack) -> None:
    secret, token = await created(stack)
    async with holding(stack) as http:
        text = (await http.get(TOKENS)).text
    assert token in text
    assert secret not in text
    assert digest_of(secret) not in text
    record = await stack.book.get(digest_of(secret))
    assert secret not in record.model_dump_json()


async def test_every_copy_refuses_a_revoked_token_within_a_second(make_stack) -> None:
    one, two = await make_stack(), await make_stack()
    secret, token = await created(one)
    assert await is_admitted(two, secret)
    two.headers = {"Authorization": f"Bearer {secret}"}
    async with two.mcp() as client:
        assert not (await client.call_tool("ping", {})).is_error
        assert (await revoke(one, token)).status_code == 200
        async with asyncio.timeout(REVOCATION_S):
            while await is_admitted(two, secret) or await is_admitted(one, secret):
                await asyncio.sleep(0.01)
        with pytest.raises(Exception, match="unauthenticated"):
            await client.call_tool("ping", {})


@pytest.mark.parametrize("scopes", [["read"], ["write"], ["read", "write"]])
async def test_only_an_admin_manages_tokens(stack, scopes) -> None:
    secret, token = await created(stack, scopes=scopes)
    assert (await create(stack, secret)).status_code == 403
    assert (await revoke(stack, token, secret)).status_code == 403
    async with holding(stack, secret) as http:
        assert (await http.get(TOKENS)).status_code == 403
    assert await is_admitted(stack, secret)


async def test_an_admin_cannot_widen_itself(stack) -> None:
    admin, own = await created(stack, scopes=["read", "admin"], repos=["acme/app"])
    for wider in (
        {"scopes": ["read", "write"], "repos": ["acme/app"]},
        {"scopes": ["operator"]},
        {"scopes": ["read"]},
        {"scopes": ["read"], "repos": ["acme/web"]},
        {"scopes": ["read"], "repos": ["acme/app", "@backend"]},
        {"scopes": ["read"], "repos": ["acme/app"], "tenant": "other"},
    ):
        response = await create(stack, admin, **wider)
        assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden"), wider
    secret, token = await created(stack, admin, scopes=["admin"], repos=["acme/app"])
    assert (await create(stack, secret, scopes=["read"], repos=["acme/app"])).status_code == 403
    assert (await listed(stack, admin)).keys() == {own, token}


async def test_an_admin_cannot_see_or_revoke_wider_tokens(stack) -> None:
    admin, own = await created(stack, scopes=["read", "admin"], repos=["acme/app"])
    _, whole = await created(stack)
    _, writer = await created(stack, scopes=["write"], repos=["acme/app"])
    unknown = await revoke(stack, "0" * 12, admin)
    hidden = await revoke(stack, whole, admin)
    assert hidden.status_code == 404
    assert hidden.text.replace(whole, "0" * 12) == unknown.text
    assert (await revoke(stack, writer, admin)).status_code == 403
    assert (await listed(stack, admin)).keys() == {own, writer}


async def test_an_operator_manages_the_tokens_of_other_tenants(stack) -> None:
    async with holding(stack) as http:
        await http.post("/api/v1/tenants", json={"id": "other"})
    secret, token = await created(stack, scopes=["read", "admin"], tenant="other")
    async with holding(stack, secret) as http:
        assert (await http.get("/api/v1/whoami")).json()["tenant"] == "other"
    assert token not in await listed(stack)
    assert token in await listed(stack, tenant="other")
    assert (await revoke(stack, token)).status_code == 404
    async with holding(stack, secret) as http:
        assert (await http.get(TOKENS, params={"tenant": "default"})).status_code == 403
    assert (await revoke(stack, token, tenant="other")).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"label": ""},
        {"label": "x" * 101},
        {"label": "two\nlines"},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"repos": ["../x"]},
        {"repos": ["@Backend"]},
        {"repos": ["a"] * 101},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"expires_at": "2099-01-01T00:00:00"},
        {"secret": "prism_mine"},
        {"scopes": ["operator"], "repos": ["acme/app"]},
    ],
)
async def test_an_invalid_token_is_refused(stack, body) -> None:
    response = await create(stack, **body)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["code"] == "invalid_argument"


async def test_the_last_use_is_stored_to_the_minute(stack) -> None:
    secret, token = await created(stack)
    assert (await listed(stack))[token]["last_used_at"] is None
    before = datetime.now(UTC).replace(second=0, microsecond=0)
    assert await is_admitted(stack, secret)
    await stack.tokens.store_uses()
    used = datetime.fromisoformat((await listed(stack))[token]["last_used_at"])
    assert before <= used <= datetime.now(UTC)
    assert (used.second, used.microsecond) == (0, 0)
    revision = await revision_of(stack, secret)
    await stack.book.change(digest_of(secret), lambda known: known.model_copy(update={"last_used_at": LATER}))
    assert await is_admitted(stack, secret)
    await stack.tokens.store_uses()  # another copy has stored a later one
    assert await revision_of(stack, secret) == revision + 1


async def test_a_use_does_not_restore_a_deleted_token(stack) -> None:
    secret, _ = await created(stack)
    assert await is_admitted(stack, secret)
    await stack.delete_token(secret)
    await stack.tokens.store_uses()
    assert await stack.book.get(digest_of(secret)) is None


async def test_ended_tokens_are_deleted_after_a_month(stack) -> None:
    secret, token = await created(stack)
    _, recent = await created(stack)
    long_ago = datetime.now(UTC) - timedelta(days=31)
    await stack.change_token(secret, revoked_at=long_ago)
    await revoke(stack, recent)
    await created(stack)
    assert token not in await listed(stack)
    assert recent in await listed(stack)


async def test_a_mistyped_secret_is_refused_without_a_look_up(stack, nats_server) -> None:
    secret, _ = await created(stack)
    await stack.tokens.of_tenant("default")
    nats_server.kill()
    typo = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    async with holding(stack, typo) as http:
        assert (await http.get("/api/v1/whoami")).status_code == 401
    async with holding(stack, secret) as http:
        assert (await http.get("/api/v1/whoami")).status_code == 200
    nats_server.start()
    await stack.reconnected()


async def revision_of(stack, secret: str) -> int:
    return (await (await stack.bus.js.key_value("prism_tokens")).get(digest_of(secret))).revision


LATER = datetime(2099, 1, 1, tzinfo=UTC)
