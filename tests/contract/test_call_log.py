"""A line in the log for each call, and what is never in one."""

import json
import logging
from collections.abc import Iterable
from typing import Any

import pytest

from prism_gateway.mcp.toolsets import TOOLS
from prism_gateway.scopes import OPEN_ROUTES, ROUTES
from prism_runtime.telemetry import FIELDS

pytest_plugins = ["gateway_stack"]

QUESTION = "where is the parcel tracked"


SECRET = "AKIA" + "IOSFODNN7EXAMPLX"
SERVER_LOGGERS = ("prism", "uvicorn", "faststream", "fastapi", "mcp.server", "asyncio")
# Not the fields that name a repository: the stand-ins know every repository, and its name is in the line.
FIELDS_SENT = (
    "query",
    "pattern",
    "content",
    "diff",
    "token",
    "webhook_secret",
    "comment",
    "url",
)
NAMES = {"repo", "repo_name", "name"}
BODIES = [json.dumps(dict.fromkeys(FIELDS_SENT, SECRET)), SECRET]


def everything(caplog) -> str:
    """All that the gateway logged, fields included. The clients of this test log in the same process."""
    return "".join(
        f"{record.getMessage()} {vars(record)}\n"
        for record in caplog.records
        if record.name.startswith(SERVER_LOGGERS)
    )


def lines(caplog, event: str = "call") -> list[dict[str, Any]]:
    return [getattr(record, FIELDS) for record in caplog.records if record.getMessage() == event]


async def test_a_search_over_mcp_is_one_line_with_its_counts_and_times(stack, caplog) -> None:
    caplog.set_level(logging.INFO)
    async with stack.mcp() as client:
        await client.call_tool("search_code", {"query": QUESTION, "repo": "acme/app"})
    (line,) = [line for line in lines(caplog) if line.get("tool")]
    assert line.pop("total_ms") > 0
    assert line.pop("caller").startswith("token:")
    assert line == {
        "source": "mcp",
        "tool": "search_code",
        "tenant": "default",
        "repo": "acme/app",
        "cache_hit": False,
        "corpus_version": 1,
        "results_count": 1,
        "query_chars": len(QUESTION),
        "embedding_time_ms": 2.5,
        "search_time_ms": 1.5,
        "status": 200,
        "code": "ok",
    }


async def test_a_route_is_named_by_its_template(stack, caplog) -> None:
    caplog.set_level(logging.INFO)
    async with stack.rest() as http:
        await http.get("/api/v1/jobs/job-1")
        await http.get("/api/v1/no-such-route")
    found = [(line["route"], line["status"], line["code"]) for line in lines(caplog)]
    assert found == [("GET /api/v1/jobs/{job}", 200, "ok"), ("GET other", 404, "not_found")]


async def test_a_search_in_the_console_is_a_line_like_any_other(stack, caplog) -> None:
    caplog.set_level(logging.INFO)
    same_origin = {"Sec-Fetch-Site": "same-origin"}
    async with stack.rest() as http:
        http.headers.pop("Authorization")
        await http.get("/search", params={"q": QUESTION})  # signed out: no call
        await http.post("/login", data={"token": stack.secret}, headers=same_origin)
        await http.get("/search", params={"q": QUESTION})
    (line,) = lines(caplog)
    assert (line["source"], line["route"], line["status"], line["code"]) == (
        "console",
        "GET /search",
        200,
        "ok",
    )
    assert (line["tenant"], line["results_count"], line["query_chars"]) == ("default", 1, len(QUESTION))
    assert line["search_time_ms"] == 1.5
    assert QUESTION not in json.dumps(line)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("search_code", {"query": QUESTION, "repo": "no/such"}, "repo_not_found"),
        ("search_code", {"query": QUESTION, "limit": "many"}, "invalid_argument"),
    ],
)
async def test_a_failed_tool_has_its_error_code(stack, caplog, tool, arguments, code) -> None:
    caplog.set_level(logging.INFO)
    async with stack.mcp() as client:
        await client.call_tool(tool, arguments)
    assert [line["code"] for line in lines(caplog) if line.get("tool")] == [code]


async def test_a_flood_of_refused_calls_is_one_line(stack, caplog) -> None:
    caplog.set_level(logging.INFO)
    async with stack.rest(Authorization="") as http:
        for _ in range(25):
            await http.post("/api/v1/search", json={"query": QUESTION})
    (line,) = lines(caplog)
    assert (line["status"], line["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("allowed", "shown"), [(False, None), (True, f"{QUESTION} [REDACTED:aws-access-key-id]")]
)
async def test_a_question_is_logged_only_where_a_setting_allows_it(
    make_stack, caplog, allowed, shown
) -> None:
    caplog.set_level(logging.DEBUG)
    stack = await make_stack(log_queries=allowed)
    async with stack.rest() as http:
        await http.post("/api/v1/search", json={"query": f"{QUESTION} {SECRET}"})
    assert [line.get("query") for line in lines(caplog)] == [shown]
    assert SECRET not in everything(caplog)


async def test_no_route_and_no_tool_logs_what_it_was_sent(stack, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    async with stack.rest(**{"X-Prism-Repo": "acme/app"}) as http:
        for route in (*ROUTES, *OPEN_ROUTES):
            method, path = route.split()
            url = "/api/v1" + path.replace("{name:path}", "acme/app").replace("{job}", "job-1")
            for body in BODIES:
                await http.request(method, url, content=body, headers={"Content-Type": "application/json"})
                await http.request(method, url, content=body, headers={"Authorization": f"Bearer {SECRET}"})
    async with stack.mcp() as client:
        for tool in TOOLS:
            for arguments in ({"query": SECRET}, _filled(tool.arguments.model_fields)):
                await client.call_tool(tool.name, arguments)
    logged = everything(caplog)
    assert len(lines(caplog)) > len(ROUTES) + len(TOOLS)
    assert SECRET not in logged
    assert stack.secret not in logged


def _filled(fields: Iterable[str]) -> dict[str, str]:
    return {name: SECRET for name in fields if name not in NAMES}
