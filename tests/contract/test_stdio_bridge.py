"""`prism mcp` between the official client, over pipes, and an MCP server over HTTP."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ToolListChangedNotification

PRISM = str(Path(sys.executable).with_name("prism"))
STAND_IN = Path(__file__).with_name("mcp_stand_in.py")
SECONDS_MAX = 120.0
PAUSE_S = 0.05
LEGACY, MODERN = "legacy", "auto"
BOTH = pytest.mark.parametrize("mode", [LEGACY, MODERN])


class StandIn:
    """An MCP server at one address, over its lives."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen([sys.executable, str(STAND_IN), str(self.port)])
        for _ in range(int(SECONDS_MAX / PAUSE_S)):
            try:
                httpx2.get(f"{self.url}/seen")
            except httpx2.ConnectError:
                assert self._process.poll() is None
                time.sleep(PAUSE_S)
            else:
                return
        pytest.fail("the stand-in does not answer")

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    def seen(self) -> dict[str, Any]:
        return httpx2.get(f"{self.url}/seen").json()


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.kill()


@asynccontextmanager
async def bridged(
    url: str, mode: str, *arguments: str, heard: list[object] | None = None, program: str = ""
) -> AsyncIterator[Client]:
    async def hear(message: object) -> None:
        if heard is not None:
            heard.append(message)

    command, first = (sys.executable, ["-c", program]) if program else (PRISM, ["mcp", *arguments])
    environment = {"PATH": os.environ["PATH"], "PRISM_URL": url, "PRISM_TOKEN": "prism_t"}
    parameters = StdioServerParameters(command=command, args=first, env=environment)
    async with Client(parameters, mode=mode, message_handler=hear, cache=None) as client:
        yield client


async def until(condition: Callable[[], bool], what: str) -> None:
    async with asyncio.timeout(SECONDS_MAX):
        while not condition():
            await asyncio.sleep(PAUSE_S)
    assert condition(), what


@BOTH
async def test_tools_results_and_headers_go_through(stand_in: StandIn, mode: str):
    stand_in.start()
    async with bridged(
        stand_in.url, mode, "--repo", "acme/town", "--toolsets", "all", "--structured"
    ) as client:
        assert client.instructions == "Ask the stand-in."
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["echo", "slow"]
        assert listed[0].output_schema == {"type": "object"}
        result = await client.call_tool("echo", {"a": 1})
        assert result.content[0].text == "echo ['a']"
        assert result.structured_content == {"arguments": {"a": 1}}
        assert result.meta["prism"] == "kept"
    headers = stand_in.seen()["headers"]
    assert headers["authorization"] == "Bearer prism_t"
    assert headers["x-prism-repo"] == "acme/town"
    assert (headers["x-prism-toolsets"], headers["x-prism-structured"]) == ("all", "true")


@BOTH
async def test_progress_reaches_the_client(stand_in: StandIn, mode: str):
    stand_in.start()
    steps: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append((done, total, message))

    async with bridged(stand_in.url, mode) as client:
        await client.call_tool("slow", {"steps": 3}, progress_callback=progress)
        await until(lambda: len(steps) == 3, "all steps arrived")
    assert steps[-1] == (3, 3, "step 3")


@BOTH
async def test_cancellation_reaches_the_server(stand_in: StandIn, mode: str):
    stand_in.start()
    async with bridged(stand_in.url, mode) as client:
        call = asyncio.create_task(client.call_tool("slow", {"steps": 10_000}))
        await until(lambda: stand_in.seen()["begun"] == {"slow": 1}, "the call began")
        call.cancel()
        await until(lambda: stand_in.seen()["cancelled"] == {"slow": 1}, "the call was cancelled")


@BOTH
async def test_end_of_the_client_cancels_its_calls(stand_in: StandIn, mode: str):
    stand_in.start()
    async with bridged(stand_in.url, mode) as client:
        call = asyncio.create_task(client.call_tool("slow", {"steps": 10_000}))
        await until(lambda: stand_in.seen()["begun"] == {"slow": 1}, "the call began")
    await until(lambda: stand_in.seen()["cancelled"] == {"slow": 1}, "the call was cancelled")
    assert call.done()


@BOTH
async def test_broken_call_is_an_error_and_not_repeated(stand_in: StandIn, mode: str):
    stand_in.start()
    async with bridged(stand_in.url, mode) as client:
        call = asyncio.create_task(client.call_tool("slow", {"steps": 10_000}))
        await until(lambda: stand_in.seen()["begun"] == {"slow": 1}, "the call began")
        stand_in.kill()
        result = await call
        assert result.is_error
        assert result.content[0].text.startswith("connection_lost: ")
        assert "not sent again" in result.content[0].text
        stand_in.start()
        assert not (await client.call_tool("echo", {})).is_error
    assert stand_in.seen()["begun"] == {"echo": 1}


# As `prism mcp`, but it looks for changed tools more often, and waits for a server as long as a test may.
EAGER_BRIDGE = f"""
import asyncio
from prism_cli.bridge import command
from prism_cli.bridge.door import GatewayDoor
from prism_cli.target import find_target
door = GatewayDoor(find_target, patience_s={SECONDS_MAX})
asyncio.run(command.serve(door, command.Options(), look_every_s=0.1))
"""


@BOTH
async def test_call_waits_for_a_server_that_restarts(stand_in: StandIn, mode: str):
    stand_in.start()
    async with bridged(stand_in.url, mode, program=EAGER_BRIDGE) as client:
        assert not (await client.call_tool("echo", {})).is_error
        stand_in.kill()
        call = asyncio.create_task(client.call_tool("echo", {"again": True}))
        await asyncio.to_thread(stand_in.start)
        assert (await call).content[0].text == "echo ['again']"
    assert stand_in.seen()["begun"] == {"echo": 1}


@BOTH
async def test_server_may_start_after_the_bridge(stand_in: StandIn, mode: str):
    async with bridged(stand_in.url, mode, program=EAGER_BRIDGE) as client:
        listing = asyncio.create_task(client.list_tools())
        await asyncio.to_thread(stand_in.start)
        assert [tool.name for tool in (await listing).tools] == ["echo", "slow"]


async def test_changed_tools_are_announced_after_a_handshake(stand_in: StandIn):
    stand_in.start()
    heard: list[object] = []
    async with bridged(stand_in.url, LEGACY, heard=heard, program=EAGER_BRIDGE) as client:
        assert len((await client.list_tools()).tools) == 2
        httpx2.get(f"{stand_in.url}/change")
        await until(lambda: any(isinstance(one, ToolListChangedNotification) for one in heard), "announced")
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo", "slow", "new"]


async def test_changed_tools_are_announced_to_subscribers(stand_in: StandIn):
    stand_in.start()
    async with bridged(stand_in.url, MODERN, program=EAGER_BRIDGE) as client:
        assert len((await client.list_tools()).tools) == 2
        async with client.listen(tools_list_changed=True) as changes, asyncio.timeout(SECONDS_MAX):
            httpx2.get(f"{stand_in.url}/change")
            await anext(aiter(changes))
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo", "slow", "new"]


def test_nothing_but_the_protocol_reaches_standard_output(stand_in: StandIn):
    stand_in.start()
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        [PRISM, "mcp"],
        input=json.dumps(hello) + "\n",
        env={"PATH": os.environ["PATH"], "PRISM_URL": stand_in.url, "PRISM_TOKEN": "prism_t"},
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS_MAX,
    )
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert answer["result"]["protocolVersion"] == "2025-06-18"
    assert answer["result"]["capabilities"]["tools"] == {"listChanged": True}
    assert done.stderr == ""
