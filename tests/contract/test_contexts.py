"""Contexts over MCP and REST: scribe itself, over NATS, with stand-ins of search and atlas."""

import asyncio

import pytest
from gateway_stack import HIT

from prism_contracts.rpc.files import ListFilesRequest
from prism_contracts.rpc.graph import CallHierarchyRequest
from prism_contracts.rpc.search import Corpus, SearchRequest
from prism_runtime.tasks import cancelled

RECOVERY_S = 120
pytest_plugins = ["gateway_stack"]

DEEP = {"question": "which tests reach `main`, and what calls it?", "mode": "deep"}


def searches_of(stack) -> list[SearchRequest]:
    return [request for request in stack.fake.asked if isinstance(request, SearchRequest)]


async def test_the_domains_of_a_fast_context_share_three_searches(stack) -> None:
    async with stack.mcp() as client:
        answer = (
            await client.call_tool("get_context", {"question": "main", "mode": "fast"})
        ).structured_content
    searches = searches_of(stack)
    assert len(searches) == 3
    process = next(request.path_filter for request in searches if request.path_filter)
    assert "workflows" in process
    assert "AGENTS" in process
    assert {request.corpus for request in searches if not request.path_filter} == {Corpus.CODE, Corpus.DOCS}
    assert (answer["mode"], len(answer["rounds"]), answer["is_complete"]) == ("fast", 1, True)
    (item,) = answer["items"]
    assert item["domain"] == "code"
    assert item["why"] == "matches the question in code"


async def test_a_repeated_context_is_the_kept_one_until_the_index_changes(stack) -> None:
    body = {"question": "main", "mode": "fast"}
    async with stack.rest() as http:
        first = (await http.post("/api/v1/context", json=body)).json()
        stack.fake.asked.clear()
        again = (await http.post("/api/v1/context", json=body)).json()
        assert searches_of(stack) == []
        assert (again["items"], again["receipt"]["cached"]) == (first["items"], True)
        assert [(one["calls"], one["cached"]) for one in again["rounds"]] == [(0, 3)]
        # Another budget shows more or less of the same searches.
        other = (await http.post("/api/v1/context", json=body | {"max_tokens": 100})).json()
        assert searches_of(stack) == []
        assert [(one["calls"], one["cached"]) for one in other["rounds"]] == [(0, 3)]
        stack.fake.corpus_version += 1
        renewed = (await http.post("/api/v1/context", json=body)).json()
    assert len(searches_of(stack)) == 3
    assert not renewed["receipt"]["cached"]


async def test_the_graph_is_asked_again_for_a_repeated_context(stack) -> None:
    async with stack.rest() as http:
        for _ in range(2):
            stack.fake.asked.clear()
            await http.post("/api/v1/context", json=DEEP)
            assert any(isinstance(request, CallHierarchyRequest) for request in stack.fake.asked)
    assert searches_of(stack) == []


async def test_only_the_domains_that_were_named_are_searched(stack) -> None:
    async with stack.rest() as http:
        body = {"question": "main", "mode": "fast", "domains": ["process"]}
        answer = (await http.post("/api/v1/context", json=body)).json()
    searches = searches_of(stack)
    assert ["workflows" in request.path_filter for request in searches] == [True]
    assert answer["items"] == []  # the stand-in of search answers with code, whatever it is asked


async def test_a_domain_without_files_is_not_searched(stack) -> None:
    stack.fake.has_files = False
    body = {"question": "main", "mode": "fast"}
    async with stack.rest() as http:
        await http.post("/api/v1/context", json=body)
        assert [request.path_filter for request in searches_of(stack)] == ["", ""]  # code and refs
        stack.fake.asked.clear()
        # The answer is for this state of the index: another question does not list again, another state does.
        await http.post("/api/v1/context", json=body | {"question": "run"})
        assert not any(isinstance(request, ListFilesRequest) for request in stack.fake.asked)
        stack.fake.corpus_version += 1
        stack.fake.has_files = True
        await http.post("/api/v1/context", json=body)
    assert len(searches_of(stack)) == 2 + 3


async def test_hits_keep_the_order_of_their_search_whatever_their_scores(stack) -> None:
    stack.fake.hits = tuple(
        HIT.model_copy(update={"file_path": f"src/{name}.py", "score": score})
        for name, score in (("first", 0.2), ("second", 0.7), ("third", 0.2))
    )
    async with stack.rest() as http:
        body = {"question": "main", "mode": "fast", "domains": ["code"]}
        items = (await http.post("/api/v1/context", json=body)).json()["items"]
    assert [item["file_path"] for item in items] == ["src/first.py", "src/second.py", "src/third.py"]


async def test_a_question_without_names_finds_the_tests_of_the_best_files(stack) -> None:
    test = HIT.model_copy(update={"file_path": "tests/test_app.py", "score": 0.1})
    stack.fake.hits = (HIT, test)
    async with stack.rest() as http:
        body = {"question": "how it begins", "mode": "deep", "domains": ["code"]}
        items = (await http.post("/api/v1/context", json=body)).json()["items"]
    assert "{**/test_app.py,**/app_test.py}" in [request.path_filter for request in searches_of(stack)]
    assert [(item["file_path"], item["why"].split(";")[0]) for item in items] == [
        ("src/app.py", "matches the question in code"),
        ("tests/test_app.py", "tests app.py by its name"),
    ]


async def test_a_deep_context_follows_the_graph_and_says_what_each_round_did(stack) -> None:
    async with stack.mcp() as client:
        answer = (await client.call_tool("get_context", DEEP)).structured_content
    assert [one["number"] for one in answer["rounds"]] == [1, 2, 3]
    assert any(isinstance(request, CallHierarchyRequest) for request in stack.fake.asked)
    assert "language model" in answer["without_model"]


async def test_a_client_that_asks_for_progress_hears_of_each_round(stack) -> None:
    reported = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        reported.append((progress, total, message or ""))

    async with stack.mcp() as client:
        result = await client.call_tool("get_context", DEEP, progress_callback=hear)
    assert not result.is_error
    assert [progress for progress, _, _ in reported] == [0, 1, 2, 3]
    assert [message.split(":")[0] for _, _, message in reported[1:]] == ["round 1", "round 2", "round 3"]


async def test_without_atlas_a_deep_context_is_answered_with_a_note(make_stack) -> None:
    stack = await make_stack(services=("search", "ingest", "scribe"))
    async with stack.mcp() as client:
        answer = (await client.call_tool("get_context", DEEP)).structured_content
    assert answer["items"]
    assert any("atlas.call_hierarchy" in note for note in answer["notes"])


@pytest.mark.parametrize(
    "arguments",
    [{"question": ""}, {"question": "x", "mode": "slow"}, {"question": "x", "domains": ["cods"]}, {}],
)
async def test_a_wrong_argument_is_an_error_that_says_which(stack, arguments) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool("get_context", arguments)
    assert result.is_error
    assert result.structured_content["error"]["code"] == "invalid_argument"


async def test_no_round_begins_after_the_caller_of_rest_has_left(stack) -> None:
    """The search of a later round is asked only if someone still waits for the context."""
    body = {"question": "slow", "mode": "deep", "domains": ["code"]}
    async with stack.rest() as http:
        asking = asyncio.create_task(http.post("/api/v1/context", json=body))
        async with asyncio.timeout(RECOVERY_S):
            await stack.fake.slow_began.wait()
        await cancelled(asking)
        async with asyncio.timeout(RECOVERY_S):
            while calls_of(stack, status="499") == 0:
                await asyncio.sleep(0.01)
        await stack.fake.end_slow()
        # The first round ends, and an answer to another caller proves that nothing of it is left.
        assert (await http.post("/api/v1/context", json=body | {"mode": "fast"})).status_code == 200
    assert not any(isinstance(request, CallHierarchyRequest) for request in stack.fake.asked)
    assert calls_of(stack, status="200") == 1


def calls_of(stack, status: str) -> float:
    labels = {"route": "/api/v1/context", "method": "POST", "status": status}
    return stack.metrics.get_sample_value("prism_http_requests_total", labels) or 0.0
