"""`python mcp_stand_in.py PORT`: a small MCP server that is slow, reports progress, and changes its tools.

`/change` adds a tool; `/seen` returns how often each call began and was cancelled, and the headers.
"""

import asyncio
import contextlib
import sys
from collections import Counter

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

STEP_S = 0.05
tools = ["echo", "slow"]
begun, cancelled, seen_headers = Counter(), Counter(), {}


async def list_tools(ctx, _):
    return ListToolsResult(
        tools=[
            Tool(name=name, input_schema={"type": "object"}, output_schema={"type": "object"})
            for name in tools
        ]
    )


async def call_tool(ctx, params):
    seen_headers.update(ctx.request.headers)
    begun[params.name] += 1
    arguments = params.arguments or {}
    try:
        for step in range(arguments.get("steps", 0)):
            await ctx.session.report_progress(step + 1, arguments["steps"], f"step {step + 1}")
            await asyncio.sleep(STEP_S)
    except asyncio.CancelledError:
        cancelled[params.name] += 1
        raise
    return CallToolResult(
        content=[TextContent(type="text", text=f"{params.name} {sorted(arguments)}")],
        structured_content={"arguments": arguments},
        _meta={"prism": "kept"},
    )


server = Server(
    "stand-in",
    version="1",
    instructions="Ask the stand-in.",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    get_tool_input_schema=lambda _: None,
)
manager = StreamableHTTPSessionManager(
    server,
    stateless=True,
    json_response=False,
    security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
)


async def change(_):
    tools.append("new")
    return JSONResponse(tools)


async def seen(_):
    return JSONResponse({"begun": begun, "cancelled": cancelled, "headers": seen_headers})


@contextlib.asynccontextmanager
async def lifespan(_):
    async with manager.run():
        yield


app = Starlette(
    routes=[
        Route("/mcp", StreamableHTTPASGIApp(manager)),
        Route("/change", change),
        Route("/seen", seen),
    ],
    lifespan=lifespan,
)

if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error", timeout_graceful_shutdown=1)
