"""`prism mcp`: serves one client on standard input and output until it closes them."""

import asyncio
import logging
import os
import sys
from typing import NamedTuple, NoReturn

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server

from prism_cli.bridge.door import ANY_URL, CONNECT_S_MAX, SILENCE_S_MAX, GatewayDoor
from prism_cli.bridge.server import LOOK_EVERY_S, PROTOCOL, Bridge
from prism_cli.bridge.starter import START_PATIENCE_S, Starter
from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import data_dir
from prism_cli.target import find_target
from prism_runtime.version import release

ANSWER_BYTES_MAX = 32 * 1024 * 1024


class Options(NamedTuple):
    """The choices of the client's configuration."""

    repo: str = ""
    toolsets: str = ""
    structured: bool = False

    def headers(self) -> dict[str, str]:
        """Returns the headers of each request to the gateway."""
        chosen = {
            "X-Prism-Repo": self.repo,
            "X-Prism-Toolsets": self.toolsets,
            "X-Prism-Structured": "true" if self.structured else "",
        }
        return {name: value for name, value in chosen.items() if value}


def run(options: Options, start_on_port: int | None) -> None:
    """Serve until the client closes standard input, then end the process.

    With `start_on_port`, start the local stack if none runs.
    """
    # Standard output belongs to the protocol.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    door = GatewayDoor(find_target) if start_on_port is None else _door_of_new_stack(start_on_port)
    asyncio.run(_serve_and_exit(door, options))


def _door_of_new_stack(port: int) -> GatewayDoor:
    if os.environ.get("PRISM_URL"):
        raise CommandError(
            "--start starts Prism on this machine, and PRISM_URL selects another one.",
            "Use one of the two.",
            code="invalid_argument",
            exit_code=Exit.USAGE,
        )
    starter = Starter(data_dir(), port)
    starter.begin()
    return GatewayDoor(starter.find, patience_s=START_PATIENCE_S)


async def _serve_and_exit(door: GatewayDoor, options: Options) -> NoReturn:
    try:
        await serve(door, options)
    except BaseException:
        logging.getLogger("prism.mcp").exception("prism mcp failed")
        os._exit(Exit.FAILED)
    # Nothing waits for the thread that reads standard input.
    os._exit(Exit.OK)


async def serve(door: GatewayDoor, options: Options, look_every_s: float = LOOK_EVERY_S) -> None:
    """Connect the client on standard input and output with the gateway behind the door."""
    timeout = httpx2.Timeout(SILENCE_S_MAX, connect=CONNECT_S_MAX)
    async with httpx2.AsyncClient(headers=options.headers(), timeout=timeout, transport=door) as http:
        upstream = streamable_http_client(ANY_URL, http_client=http, max_sse_event_size=ANSWER_BYTES_MAX)
        # A chosen revision needs no request to connect, so the gateway may come up later.
        async with Client(upstream, mode=PROTOCOL, cache=None) as gateway:
            bridge = Bridge(gateway.session, release())
            await bridge.greet()
            following = asyncio.create_task(bridge.follow_changes(look_every_s))
            async with stdio_server() as (read, write):
                await bridge.server.run(read, write, _capabilities(bridge))
            following.cancel()


def _capabilities(bridge: Bridge) -> InitializationOptions:
    return bridge.server.create_initialization_options(NotificationOptions(tools_changed=True))
