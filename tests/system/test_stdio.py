"""`prism mcp` against a whole stack, with the official client over pipes."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from running_stack import PRISM, RunningStack, until

BOTH = pytest.mark.parametrize("mode", ["legacy", "auto"])
DEFAULT_TOOLS_MIN = 10
USAGE = 2


@asynccontextmanager
async def agent(
    stack: RunningStack, *arguments: str, mode: str = "auto", **settings: str
) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=PRISM, args=["mcp", *arguments], env=stack.environment() | settings
    )
    async with Client(parameters, mode=mode, cache=None) as client:
        yield client


def is_listening(stack: RunningStack) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", urlsplit(stack.url).port)) == 0


@BOTH
async def test_answers_equal_those_over_http(shared_stack: RunningStack, ledger: dict[str, Any], mode: str):
    question = {"query": "balance of an account", "repo": "acme/ledger"}
    async with (
        shared_stack.agent(mode=mode) as over_http,
        agent(shared_stack, "--structured", "--toolsets", "all", mode=mode) as over_pipes,
    ):
        listed = [(await one.list_tools()).tools for one in (over_http.client, over_pipes)]
        assert listed[0] == listed[1]
        assert over_pipes.instructions == over_http.client.instructions
        expected = await over_http.client.call_tool("grep_code", {"pattern": "def ", "repo": "acme/ledger"})
        found = await over_pipes.call_tool("grep_code", {"pattern": "def ", "repo": "acme/ledger"})
        assert found.content == expected.content
        assert found.structured_content["matches"] == expected.structured_content["matches"]
        assert not (await over_pipes.call_tool("search_code", question)).is_error


async def test_refused_token_is_reported_to_the_agent(shared_stack: RunningStack):
    async with agent(shared_stack, PRISM_TOKEN="prism_unknown") as client:
        result = await client.call_tool("ping", {})
        assert result.is_error
        assert result.content[0].text.startswith("unauthenticated: ")


async def test_calls_survive_a_killed_gateway(breakable_stack: RunningStack):
    async with agent(breakable_stack) as client:
        assert not (await client.call_tool("ping", {})).is_error
        restarts = breakable_stack.state()["services"]["gateway"]["restarts"]
        breakable_stack.kill("gateway")
        await until(lambda: not is_listening(breakable_stack), what="the gateway ended")
        assert not (await client.call_tool("ping", {})).is_error
        breakable_stack.wait_restarted("gateway", restarts + 1)
        assert len((await client.list_tools()).tools) >= DEFAULT_TOOLS_MIN


async def test_start_brings_up_a_stack_that_stays(tmp_path: Path):
    stack = RunningStack(tmp_path / "data")
    try:
        async with agent(stack, "--start", "--port", "0") as client:
            assert len((await client.list_tools()).tools) >= DEFAULT_TOOLS_MIN
        assert stack.prism("status").returncode == 0
        async with agent(stack, "--start", "--port", "0") as client:
            assert not (await client.call_tool("ping", {})).is_error
    finally:
        stack.down()


def test_start_refuses_another_machine(tmp_path: Path):
    stack = RunningStack(tmp_path / "data", PRISM_URL="http://192.0.2.1:8780")
    done = stack.prism("mcp", "--start")
    assert done.returncode == USAGE
    assert "PRISM_URL" in done.stderr
