"""The audit over a real nats-server: what was changed over REST, MCP and webhooks, read over REST."""

import asyncio
import contextlib
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gateway_stack import NOW
from nats.js.errors import APIError
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from prism_contracts import names
from prism_contracts.accounting import AuditAction, AuditEntry
from prism_contracts.base import repo_id
from prism_contracts.records import Repository
from prism_gateway.accounting.audit import AuditLog, AuditMetrics, new_id
from prism_gateway.accounting.pages import Wanted
from prism_runtime import streams
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

RECOVERY_S = 120
HOOK_SECRET = "s" * 24
COMMIT = "a" * 40


async def audit_of(stack, **params):
    async with stack.rest() as http:
        answer = await http.get("/api/v1/audit", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()["entries"]


async def entries_of(stack, **params):
    return [(one["action"], one["subject"], one["code"]) for one in await audit_of(stack, **params)]


async def settled(stack, **params):
    """Returns the entries once there are any: refused calls do not wait for theirs."""
    async with asyncio.timeout(RECOVERY_S):
        while not (found := await audit_of(stack, **params)):
            await asyncio.sleep(0.02)
        return found


ROUTES = {
    "POST /repos": ({"url": "https://git.example/acme/app"}, "repository_registered", "acme/app"),
    "PATCH /repos/acme/app": ({"is_active": False}, "repository_changed", "acme/app"),
    "DELETE /repos/acme/app": ({}, "repository_removed", "acme/app"),
    "POST /repos/acme/app/index": ({"full": True}, "repository_indexed", "acme/app"),
    "PUT /repos/acme/app/secrets": ({"webhook_secret": HOOK_SECRET}, "secrets_changed", "acme/app"),
    "DELETE /jobs/job-1": ({}, "job_cancelled", "job-1"),
    "POST /dead-letters/7/retry": ({}, "letter_retried", "acme/app"),
    "DELETE /dead-letters/7": ({}, "letter_dropped", "acme/app"),
    "POST /layers": ({"repo": "acme/app", "ref": "topic"}, "layer_created", "acme/app"),
    "DELETE /layers?repo=acme/app&ref=topic": ({}, "layer_removed", "acme/app"),
    "POST /overlays": (
        {"repo": "acme/app", "files": [{"path": "a.py", "content": "x"}]},
        "overlay_opened",
        "acme/app",
    ),
    "DELETE /overlays/topic?repo=acme/app": ({}, "overlay_closed", "acme/app"),
    f"POST /ingest/scip?repo=acme/app&commit={COMMIT}": ({}, "scip_stored", "acme/app"),
    "DELETE /ingest/scip?repo=acme/app&indexer=scip-python": ({}, "scip_removed", "acme/app"),
    "POST /ingest/snapshots": (
        {"repo_name": "acme/app", "snapshot": "s", "commit": COMMIT, "files": []},
        "repository_indexed",
        "acme/app",
    ),
}


@pytest.mark.parametrize("route", ROUTES)
async def test_a_change_over_rest_is_recorded_before_its_answer(stack, route) -> None:
    body, action, subject = ROUTES[route]
    method, path = route.split(" ", 1)
    stack.fake.letters = {7}
    async with stack.rest() as http:
        answer = await http.request(method, f"/api/v1{path}", json=body or None)
        assert answer.is_success, answer.text
    [entry] = await audit_of(stack)
    assert (entry["action"], entry["subject"], entry["code"]) == (action, subject, "")
    assert (entry["tenant"], entry["label"], entry["address"]) == ("default", "bootstrap", "127.0.0.1")
    assert entry["caller"].startswith("token:")
    assert HOOK_SECRET not in json.dumps(entry)


TOOLS = {
    "index_repository": ({"url": "https://git.example/acme/app"}, "repository_indexed", "acme/app"),
    "remove_repository": ({"repo": "acme/app"}, "repository_removed", "acme/app"),
    "create_branch_index": ({"repo": "acme/app", "ref": "topic"}, "layer_created", "acme/app"),
    "delete_branch_index": ({"repo": "acme/app", "ref": "topic"}, "layer_removed", "acme/app"),
    "open_overlay": ({"repo": "acme/app", "diff": "x"}, "overlay_opened", "acme/app"),
    "close_overlay": ({"repo": "acme/app", "handle": "topic"}, "overlay_closed", "acme/app"),
    "cancel_job": ({"job": "job-1"}, "job_cancelled", "job-1"),
}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("tool", TOOLS)
async def test_a_change_over_mcp_is_recorded_before_its_answer(stack, tool, mode) -> None:
    arguments, action, subject = TOOLS[tool]
    async with stack.mcp(mode=mode) as client:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        assert await entries_of(stack) == [(action, subject, "")]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_import_that_is_followed_is_recorded_before_its_first_progress(stack, mode) -> None:
    heard = asyncio.Event()

    async def hear(*_: object) -> None:
        heard.set()

    arguments = {"url": "https://git.example/acme/app", "wait_s": 60}
    async with stack.mcp(mode=mode) as client, asyncio.timeout(RECOVERY_S):
        call = asyncio.create_task(client.call_tool("index_repository", arguments, progress_callback=hear))
        await heard.wait()
        [entry] = await audit_of(stack)
        call.cancel()  # the job of the stand-in does not end
        with contextlib.suppress(asyncio.CancelledError):
            await call
    assert (entry["action"], entry["subject"], entry["code"]) == ("repository_indexed", "acme/app", "")
    assert entry["details"].keys() == {"source", "job"}
    assert await audit_of(stack) == [entry]


async def test_tokens_are_recorded_with_what_they_may_do(stack) -> None:
    body = {"label": "ci", "scopes": ["read"], "repos": ["acme/app"], "tenant": "acme"}
    async with stack.rest() as http:
        await http.post("/api/v1/tenants", json={"id": "acme"})
        created = (await http.post("/api/v1/developer-tokens", json=body)).json()
        token = created["token"]["id"]
        await http.delete(f"/api/v1/developer-tokens/{token}", params={"tenant": "acme"})
    assert not await audit_of(stack)
    revoked, made, _ = await audit_of(stack, tenant="acme")
    assert (made["action"], made["subject"], made["caller_tenant"]) == ("token_created", token, "default")
    assert made["details"] == {"label": "ci", "scopes": "read", "repos": "acme/app"}
    assert (revoked["action"], revoked["subject"], revoked["details"]) == (
        "token_revoked",
        token,
        {"label": "ci"},
    )
    assert created["secret"] not in json.dumps([made, revoked])


async def test_an_operators_change_is_recorded_for_the_tenant_that_it_changes(stack) -> None:
    async with stack.rest() as http:
        body = {"id": "globex", "plan": "free", "limits": {"overlays": 2}}
        assert (await http.post("/api/v1/tenants", json=body)).status_code == 201
        assert (await http.post("/api/v1/tenants", json=body)).is_client_error
        await http.patch("/api/v1/tenants/globex", json={"is_active": False})
    changed, created = await audit_of(stack, tenant="globex")
    assert (created["action"], created["subject"], created["details"]) == (
        "tenant_created",
        "globex",
        {"plan": "free", "limits": "overlays 2"},
    )
    assert (changed["action"], changed["details"]) == ("tenant_changed", {"is_active": "false"})
    assert {created["caller_tenant"], changed["caller_tenant"]} == {"default"}
    [refused] = await settled(stack)
    assert (refused["action"], refused["subject"], bool(refused["code"])) == (
        "tenant_created",
        "globex",
        True,
    )


async def test_a_repetition_with_a_key_is_not_recorded(stack) -> None:
    async with stack.rest(**{"Idempotency-Key": "once"}) as http:
        for _ in range(2):
            await http.post("/api/v1/developer-tokens", json={"label": "ci"})
    assert [action for action, _, _ in await entries_of(stack)] == ["token_created"]


async def test_questions_are_not_recorded(stack) -> None:
    async with stack.rest() as http, stack.mcp() as client:
        await http.post("/api/v1/search", json={"query": "main"})
        await client.call_tool("search_code", {"query": "main"})
        await http.delete("/api/v1/jobs/job-1")
    assert [action for action, _, _ in await entries_of(stack)] == ["job_cancelled"]


async def test_a_refused_change_is_recorded_for_the_tenant_of_its_caller(stack) -> None:
    secret = "prism_" + "a" * 40
    await stack.change_token(secret, scopes=("read",))
    async with stack.rest(Authorization=f"Bearer {secret}") as http:
        body = {"label": "mine", "scopes": ["operator"]}
        assert (await http.post("/api/v1/developer-tokens", json=body)).status_code == 403
    [entry] = await settled(stack, tenant="acme")
    assert (entry["action"], entry["code"], entry["label"]) == ("token_created", "forbidden", "laptop")


async def test_a_change_that_failed_has_the_code_of_its_error(stack) -> None:
    async with stack.mcp() as client:
        await client.call_tool("index_repository", {"url": "file:///etc"})
    [entry] = await settled(stack)
    assert (entry["action"], entry["code"]) == ("repository_indexed", "clone_refused")


async def test_an_invalid_request_is_recorded_as_invalid(stack) -> None:
    async with stack.rest() as http:
        body = {"label": "mine", "scopes": ["reed"]}
        assert (await http.post("/api/v1/developer-tokens", json=body)).status_code in (400, 422)
    [entry] = await settled(stack)
    assert (entry["action"], entry["code"]) == ("token_created", "invalid_argument")


async def test_the_address_is_the_one_that_a_proxy_on_this_machine_names(stack) -> None:
    # uvicorn trusts X-Forwarded-For of this machine, and no other header.
    for headers in ({"X-Forwarded-For": "203.0.113.9"}, {"X-Real-IP": "203.0.113.8"}):
        async with stack.rest(**headers) as http:
            await http.delete("/api/v1/jobs/job-1")
    assert [entry["address"] for entry in await audit_of(stack)] == ["127.0.0.1", "203.0.113.9"]


async def test_an_accepted_webhook_is_recorded_for_each_repository(make_stack) -> None:
    stack = await make_stack(webhook_secret=SecretStr(HOOK_SECRET))
    bucket = Records(await open_bucket(stack.bus.js, names.KV_REPOSITORIES), Repository)
    for tenant in ("default", "acme"):
        repository = Repository(
            tenant=tenant,
            repo=repo_id("acme/app"),
            name="acme/app",
            source="https://git.example/acme/app",
            created_at=NOW,
        )
        await bucket.put(repository.key, repository)
    body = json.dumps(
        {
            "ref": "refs/heads/main",
            "after": COMMIT,
            "repository": {
                "full_name": "acme/app",
                "clone_url": "https://git.example/acme/app.git",
                "default_branch": "main",
            },
        }
    ).encode()
    signature = hmac.new(HOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": "d-1",
        "X-Hub-Signature-256": f"sha256={signature}",
    }
    async with stack.rest(**headers) as http, asyncio.timeout(RECOVERY_S):
        while (answer := await http.post("/api/v1/ingest/webhook", content=body)).status_code != 202:
            await asyncio.sleep(0.05)  # until the gateway knows the repositories
        assert set(answer.json()) == {"outcome", "event", "reason", "repositories"}
    for tenant in ("default", "acme"):
        entry, *more = await audit_of(stack, tenant=tenant)
        assert (entry["action"], entry["subject"], entry["caller"]) == (
            "webhook_accepted",
            "acme/app",
            "webhook:github",
        )
        assert entry["details"] == {"ref": "refs/heads/main", "commit": COMMIT, "delivery": "d-1"}
        assert not more


async def test_entries_cannot_be_deleted(stack) -> None:
    async with stack.rest() as http:
        await http.delete("/api/v1/jobs/job-1")
    js = stack.bus.broker.connection.jetstream()
    with pytest.raises(APIError):
        await js.purge_stream(names.AUDIT)
    with pytest.raises(APIError):
        await js.delete_msg(names.AUDIT, 1)
    assert len(await audit_of(stack)) == 1


async def test_an_admin_sees_its_own_tenant_only(stack) -> None:
    secret, limited = "prism_" + "a" * 40, "prism_" + "b" * 40
    await stack.change_token(secret, scopes=("write", "admin"), label="admin")
    await stack.change_token(limited, scopes=("admin",), repos=("acme/app",))
    for headers in ({}, {"Authorization": f"Bearer {secret}"}):
        async with stack.rest(**headers) as http:
            await http.delete("/api/v1/jobs/job-1")
    async with stack.rest(Authorization=f"Bearer {secret}") as http:
        entries = (await http.get("/api/v1/audit")).json()["entries"]
        assert [entry["label"] for entry in entries] == ["admin"]
        for tenant in ("default", "*", "-"):
            assert (await http.get("/api/v1/audit", params={"tenant": tenant})).status_code == 403
    async with stack.rest(Authorization=f"Bearer {limited}") as http:
        assert (await http.get("/api/v1/audit")).status_code == 403
    assert {entry["tenant"] for entry in await audit_of(stack, tenant="*")} == {"acme", "default"}


async def test_entries_are_found_by_actor_action_and_time(stack) -> None:
    async with stack.rest() as http:
        await http.delete("/api/v1/jobs/job-1")
        await http.post("/api/v1/layers", json={"repo": "acme/app", "ref": "topic"})
    both = ["layer_created", "job_cancelled"]
    assert [action for action, _, _ in await entries_of(stack)] == both
    assert [action for action, _, _ in await entries_of(stack, actor="bootstrap")] == both
    assert not await entries_of(stack, actor="someone")
    assert [action for action, _, _ in await entries_of(stack, action="job_cancelled")] == ["job_cancelled"]
    soon = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    assert not await entries_of(stack, since=soon, until=soon)
    [newer, _] = await audit_of(stack)
    assert [action for action, _, _ in await entries_of(stack, until=newer["at"])] == ["job_cancelled"]
    assert [action for action, _, _ in await entries_of(stack, since=newer["at"])] == ["layer_created"]


def entry(number: int, tenant: str = "default") -> AuditEntry:
    return AuditEntry(
        id=new_id(),
        at=datetime.now(UTC),
        tenant=tenant,
        action=AuditAction.FILES_EDITED,
        subject=f"acme/{number}",
        caller="token:x",
    )


@pytest.fixture
async def book(stack) -> AuditLog:
    book = AuditLog(AuditMetrics(CollectorRegistry()))
    await book.open(stack.bus, bytes_max=10_000_000, replicas=1)
    return book


async def test_pages_have_each_entry_once_the_newest_first(stack, book, monkeypatch) -> None:
    monkeypatch.setattr(streams, "WINDOW", 4)  # many windows, with entries of other tenants between
    for number in range(11):
        await book.record(entry(number), entry(number, "acme"))
    found, cursor = [], ""
    async with stack.rest() as http:
        while True:
            params = {"limit": 3, "cursor": cursor}
            page = (await http.get("/api/v1/audit", params=params)).json()
            found += page["entries"]
            cursor = page["next_cursor"]
            if not cursor:
                break
            assert len(page["entries"]) == 3
            other = {"cursor": cursor, "tenant": "acme"}
            assert (await http.get("/api/v1/audit", params=other)).status_code == 400
    assert [one["subject"] for one in found] == [f"acme/{number}" for number in range(10, -1, -1)]
    assert {one["tenant"] for one in found} == {"default"}


async def test_a_page_ends_when_it_has_read_enough(book, monkeypatch) -> None:
    monkeypatch.setattr("prism_gateway.accounting.pages.SCANNED_MAX", 4)
    await book.record(*map(entry, range(9)))
    now, day = datetime.now(UTC), timedelta(days=1)
    wanted = Wanted("default", now - day, now + day, actor="stranger")
    page, positions = await book.page(wanted), []
    while page.next_position:
        assert not page.entries
        positions.append(page.next_position)
        page = await book.page(replace(wanted, position=page.next_position))
    assert len(positions) == 2


async def test_a_change_does_not_fail_without_nats_and_is_stored_later_once(stack, book, nats_server) -> None:
    nats_server.kill()
    async with asyncio.timeout(RECOVERY_S), book.storing():
        await book.record(entry(1))
        nats_server.start()
        await stack.reconnected()
        while not (found := await audit_or_none(stack)):
            await asyncio.sleep(0.05)
    assert [one["subject"] for one in found] == ["acme/1"]
    assert [one["subject"] for one in await audit_of(stack)] == ["acme/1"]


async def test_reading_without_nats_says_so(stack, nats_server) -> None:
    nats_server.kill()
    async with stack.rest() as http:
        answer = await http.get("/api/v1/audit")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    nats_server.start()
    await stack.reconnected()


async def audit_or_none(stack):
    async with stack.rest() as http:
        return (await http.get("/api/v1/audit")).json().get("entries")
