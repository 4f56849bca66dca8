"""The search history and feedback over a real nats-server: who keeps one, what it contains, and who may read it."""

import asyncio
import json
from collections import Counter

from prism_contracts import names
from prism_contracts.accounting import HistoryEntry

pytest_plugins = ["gateway_stack"]

RECOVERY_S = 120
# Looks like a token of a forge, and is none.
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
OTHER = "prism_" + "a" * 40


async def history_of(stack, **params):
    async with stack.rest() as http:
        answer = await http.get("/api/v1/search-history", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()


async def kept(stack, count: int, **params):
    """Returns the questions once there are so many: no call waits for its history."""
    async with asyncio.timeout(RECOVERY_S):
        while len(entries := (await history_of(stack, **params))["entries"]) < count:
            await asyncio.sleep(0.02)
        return entries


async def feedback_of(stack, **params):
    async with stack.rest() as http:
        answer = await http.get("/api/v1/feedback", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()["entries"]


async def ask(stack, query: str = "main", **headers: str):
    async with stack.rest(**headers) as http:
        answer = await http.post("/api/v1/search", json={"query": query})
        assert answer.is_success, answer.text
        return answer.json()


async def turn(stack, *, is_on: bool | None, **headers: str):
    async with stack.rest(**headers) as http:
        answer = await http.put("/api/v1/search-history", json={"is_on": is_on})
        assert answer.status_code == 200, answer.text
        return answer.json()


async def stored(stack, stream: str) -> int:
    state = (await stack.bus.broker.connection.jetstream().stream_info(stream)).state
    return state.messages


async def test_no_history_is_kept_by_default(stack) -> None:
    await ask(stack)
    await turn(stack, is_on=True)
    await ask(stack, "the second question")
    [entry] = await kept(stack, 1)
    assert entry["query"] == "the second question"
    assert (await history_of(stack))["is_on"]


async def test_questions_of_rest_and_mcp_are_kept_with_their_hits(make_stack) -> None:
    stack = await make_stack(search_history=True)
    found = await ask(stack, "where is main")
    async with stack.mcp() as client:
        await client.call_tool("search_code", {"query": "what is main"})
        await client.call_tool("grep_code", {"pattern": "main"})
    newer, older = await kept(stack, 2)
    assert [newer["call"], older["call"]] == ["search_code", "POST /search"]
    assert [newer["query"], older["query"]] == ["what is main", "where is main"]
    assert (older["tenant"], older["label"]) == ("default", "bootstrap")
    hits = found["results"]
    assert [(hit["hit"], hit["file_path"], hit["start_line"]) for hit in older["hits"]] == [
        (hit["id"], hit["file_path"], hit["start_line"]) for hit in hits
    ]
    assert hits
    assert hits[0]["content"] not in json.dumps(older)


async def test_a_question_is_kept_with_how_its_answer_was_found(make_stack) -> None:
    stack = await make_stack(search_history=True)
    found = await ask(stack, "where is main")
    [entry] = await kept(stack, 1)
    hits, receipt = found["results"], found["receipt"]
    assert [hit["score"] for hit in entry["hits"]] == [hit["score"] for hit in hits]
    assert (entry["hits_found"], entry["intent"], entry["confidence"]) == (
        len(hits),
        found["query_intent"],
        found["confidence"],
    )
    assert entry["legs"] == Counter(leg for hit in hits for leg in hit["legs"])
    assert entry["missing_legs"] == receipt["missing_legs"]
    assert (entry["cached"], entry["corpus_version"]) == (receipt["cached"], receipt["corpus_version"])
    assert entry["timings_ms"] == found["timings_ms"]


def test_questions_that_an_earlier_release_kept_are_read() -> None:
    old = {
        "at": "2026-11-20T10:00:00Z", "tenant": "acme", "caller": "t1", "call": "search_code", "query": "main",
        "hits": [{"hit": "0a1b", "repo": "acme/app", "file_path": "app.py", "start_line": 3, "end_line": 9}],
    }  # fmt: skip
    entry = HistoryEntry.model_validate_json(json.dumps(old))
    assert (entry.hits[0].score, entry.hits_found, entry.timings_ms) == (None, None, {})


async def test_secrets_in_questions_are_redacted_also_by_the_operators_rules(make_stack) -> None:
    stack = await make_stack(search_history=True, secret_patterns="badge=BADGE-[0-9]{6}")
    await ask(stack, f"who uses {SECRET} and BADGE-123456")
    [entry] = await kept(stack, 1)
    assert SECRET not in entry["query"]
    assert "BADGE-123456" not in entry["query"]
    assert entry["query"].startswith("who uses [REDACTED:")


async def test_a_tenant_decides_for_itself_and_no_other_sees_it(make_stack) -> None:
    stack = await make_stack(search_history=True)
    await stack.change_token(OTHER, scopes=("read", "admin"))
    async with stack.rest() as http:
        await http.post("/api/v1/tenants", json={"id": "acme"})
    other = {"Authorization": f"Bearer {OTHER}"}
    assert await turn(stack, is_on=False, **other) == {"tenant": "acme", "is_on": False}
    await ask(stack, "a question of acme", **other)
    await ask(stack, "a question of default")
    await kept(stack, 1)
    assert not (await history_of(stack, tenant="acme"))["entries"]
    assert await turn(stack, is_on=None, **other) == {"tenant": "acme", "is_on": True}
    await ask(stack, "another one of acme", **other)
    await kept(stack, 1, tenant="acme")
    async with stack.rest(**other) as http:
        own = (await http.get("/api/v1/search-history")).json()
        assert [entry["query"] for entry in own["entries"]] == ["another one of acme"]
        for route in ("search-history", "feedback"):
            for tenant in ("default", "*"):
                refused = await http.get(f"/api/v1/{route}", params={"tenant": tenant})
                assert refused.status_code == 403
        body = {"is_on": False, "tenant": "default"}
        assert (await http.put("/api/v1/search-history", json=body)).status_code == 403
        gone = await http.delete("/api/v1/search-history", params={"tenant": "default"})
        assert gone.status_code == 403
    assert {entry["tenant"] for entry in await kept(stack, 2, tenant="*")} == {"acme", "default"}


async def test_a_token_of_some_repositories_sees_and_changes_no_history(stack) -> None:
    await stack.change_token(OTHER, scopes=("read", "admin"), repos=("acme/app",))
    async with stack.rest(Authorization=f"Bearer {OTHER}") as http:
        answers = [
            await http.get("/api/v1/search-history"),
            await http.get("/api/v1/feedback"),
            await http.put("/api/v1/search-history", json={"is_on": True}),
            await http.delete("/api/v1/search-history"),
        ]
    assert [answer.status_code for answer in answers] == [403] * 4


async def test_feedback_is_stored_redacted_with_its_sender(stack) -> None:
    body = {"useful": False, "hits": ["0a1b2c3d4e5f"], "query": f"q {SECRET}", "comment": f"c {SECRET}"}
    async with stack.rest() as http:
        answer = await http.post("/api/v1/feedback", json=body)
        assert (answer.status_code, answer.json()) == (202, {"stored": True})
    async with stack.mcp() as client:
        result = await client.call_tool("send_feedback", {"useful": True, "hits": ["src/app.py:3"]})
        assert result.structured_content == {"stored": True}
    newer, older = await feedback_of(stack)
    assert (newer["useful"], newer["hits"], newer["label"]) == (True, ["src/app.py:3"], "bootstrap")
    assert (older["useful"], older["hits"]) == (False, ["0a1b2c3d4e5f"])
    assert SECRET not in json.dumps(older)


async def test_feedback_needs_the_scope_read_only_and_has_limits(stack) -> None:
    await stack.change_token(OTHER, scopes=("read",))
    async with stack.rest(Authorization=f"Bearer {OTHER}") as http:
        assert (await http.post("/api/v1/feedback", json={"useful": True})).status_code == 202
        for body in (
            {},
            {"useful": "perhaps"},
            {"useful": True, "comment": "x" * 1_001},
            {"useful": True, "query": "x" * 4_001},
            {"useful": True, "hits": ["x"] * 21},
            {"useful": True, "hits": ["x" * 501]},
            {"useful": True, "hits": [""]},
            {"useful": True, "tenant": "default"},
        ):
            assert (await http.post("/api/v1/feedback", json=body)).status_code == 400, body
        assert (await http.get("/api/v1/feedback")).status_code == 403
    [entry] = await feedback_of(stack, tenant="acme")
    assert entry["tenant"] == "acme"


async def test_the_history_of_one_tenant_is_deleted(make_stack) -> None:
    stack = await make_stack(search_history=True)
    await stack.change_token(OTHER, scopes=("read", "admin"))
    for headers in ({}, {"Authorization": f"Bearer {OTHER}"}):
        await ask(stack, **headers)
        async with stack.rest(**headers) as http:
            await http.post("/api/v1/feedback", json={"useful": True})
    await kept(stack, 2, tenant="*")
    async with stack.rest(Authorization=f"Bearer {OTHER}") as http:
        deleted = await http.delete("/api/v1/search-history")
        assert deleted.json() == {"tenant": "acme", "is_on": True}
    assert [entry["tenant"] for entry in await kept(stack, 1, tenant="*")] == ["default"]
    assert [entry["tenant"] for entry in await feedback_of(stack, tenant="*")] == ["default"]
    assert [await stored(stack, stream) for stream in (names.HISTORY, names.FEEDBACK)] == [1, 1]
    async with stack.rest() as http:
        audit = (await http.get("/api/v1/audit", params={"tenant": "acme"})).json()["entries"]
    assert [(entry["action"], entry["code"]) for entry in audit] == [("history_deleted", "")]


async def test_questions_are_answered_without_nats_for_the_history(make_stack) -> None:
    stack = await make_stack(search_history=True)
    js = stack.bus.broker.connection.jetstream()
    await js.delete_stream(names.HISTORY)
    assert (await ask(stack))["results"]


async def test_feedback_without_its_stream_says_that_it_is_not_stored(stack) -> None:
    js = stack.bus.broker.connection.jetstream()
    await js.delete_stream(names.FEEDBACK)
    async with stack.rest() as http:
        answer = await http.post("/api/v1/feedback", json={"useful": True})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
