"""The server that a client talks to over standard input and output: its tools are those of the gateway.

Serves both kinds of clients, those of the handshake and those of 2026-07-28. Lists, calls, progress and
cancellation go to the gateway; results come back unchanged. A call is sent once.
"""

import asyncio
import contextlib
from typing import Any

import anyio
from mcp.client.session import ClientSession
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from prism_cli.bridge.door import REFUSED

# Tools change when the gateway is replaced by another version; nothing announces it.
LOOK_EVERY_S = 20.0
# A client waits for the answer to its first request, and some only ten seconds.
GREETING_S_MAX = 4.0
INSTRUCTIONS_UNTIL_CONNECTED = (
    "Prism knows the indexed code: search_code finds by meaning or name, find_references lists callers, grep_code "
    "matches exact text. It is not reachable yet; a call waits for it, or says what to do."
)

PROTOCOL = "2026-07-28"

Context = ServerRequestContext[Any, Any]


class Bridge:
    """The tools of a gateway, for one client."""

    def __init__(self, gateway: ClientSession, version: str) -> None:
        self._gateway = gateway
        self._changes = InMemorySubscriptionBus()
        self._client: ServerSession | None = None
        self._listed: ListToolsResult | None = None
        self.server: Server[Any] = Server(
            "prism",
            title="Prism",
            version=version,
            instructions=INSTRUCTIONS_UNTIL_CONNECTED,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=ListenHandler(self._changes),
            get_tool_input_schema=lambda _: None,
        )

    async def greet(self) -> None:
        """Take over the gateway's instructions, if it answers soon."""
        with contextlib.suppress(MCPError, TimeoutError):
            async with asyncio.timeout(GREETING_S_MAX):
                # Not `discover`: the session has adopted the chosen revision already.
                found = DiscoverResult.model_validate(await self._gateway.send_discover(PROTOCOL))
                self.server.instructions = found.instructions or self.server.instructions

    async def follow_changes(self, every_s: float = LOOK_EVERY_S) -> None:
        """Tell the client when the gateway's tools change. Runs until it is cancelled."""
        while True:
            await asyncio.sleep(every_s)
            if self._client is None:
                continue
            try:
                newest = await self._gateway.list_tools()
            except MCPError:
                continue  # not reachable: the next look may find it
            if self._listed is None or newest.tools != self._listed.tools:
                self._listed = newest
                await self._announce(self._client)

    async def _announce(self, client: ServerSession) -> None:
        await self._changes.publish(ToolsListChanged())
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await client.send_tool_list_changed()

    async def _list_tools(self, ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        self._client = ctx.session
        self._listed = None
        self._listed = await self._gateway.list_tools(params=params)
        return self._listed

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        try:
            # Not `call_tool`: it lists the tools to validate the result, which the gateway has done.
            return await self._gateway.send_request(
                CallToolRequest(params=CallToolRequestParams(name=params.name, arguments=params.arguments)),
                CallToolResult,
                progress_callback=ctx.session.report_progress if _wants_progress(ctx) else None,
            )
        except MCPError as error:
            if error.code != REFUSED:
                raise
            # Agents read results; some clients hide errors of the protocol from them.
            return CallToolResult(content=[TextContent(type="text", text=error.message)], is_error=True)


def _wants_progress(ctx: Context) -> bool:
    return (ctx.meta or {}).get("progress_token") is not None
