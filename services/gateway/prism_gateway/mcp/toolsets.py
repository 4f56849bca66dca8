"""Which tools are listed. Agents pay for definitions, so `/mcp` lists only the toolset `code` by default.

Only the list is filtered. Every tool can be called, so a prompt or a skill may name one that is not listed.
"""

from collections.abc import Iterable

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.mcp.errors import refusal
from prism_gateway.mcp.tool import AnyTool, Toolset
from prism_gateway.mcp.tools import (
    admin,
    code,
    context,
    conventions,
    docs,
    documents,
    edit,
    existing,
    feedback,
    function_body,
    maps,
    read,
    repo_context,
    repositories,
    tasks,
    unused,
    walk,
    wiki,
)

DEFAULT = frozenset({Toolset.CODE})
ALL = "all"
PARAMETER = "toolsets"
HEADER = "x-prism-toolsets"

_MODULES = (
    code,
    read,
    edit,
    function_body,
    walk,
    unused,
    maps,
    existing,
    docs,
    repo_context,
    conventions,
    context,
    wiki,
    documents,
    admin,
    repositories,
    feedback,
    tasks,
)
TOOLS: tuple[AnyTool, ...] = tuple(
    tool for toolset in Toolset for module in _MODULES for tool in module.TOOLS if tool.toolset is toolset
)


def tools_of(toolsets: Iterable[Toolset]) -> list[AnyTool]:
    """Returns the tools of these toolsets, in the order of `TOOLS`."""
    chosen = frozenset(toolsets)
    return [tool for tool in TOOLS if tool.toolset in chosen]


def toolsets_of(request: HTTPConnection) -> frozenset[Toolset]:
    """Returns the toolsets that a request names, in its URL and its header. Raises for an unknown name."""
    asked = [*request.query_params.getlist(PARAMETER), *request.headers.getlist(HEADER)]
    chosen = [name.strip().lower() for value in asked for name in value.split(",") if name.strip()]
    if not chosen:
        return DEFAULT
    if ALL in chosen:
        return frozenset(Toolset)
    unknown = sorted(set(chosen) - set(Toolset))
    if unknown:
        names = [*Toolset, ALL]
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"There is no toolset {', '.join(unknown)}.",
            f"Name some of: {', '.join(names)}.",
            toolsets=names,
        )
    return frozenset(Toolset(name) for name in chosen)


class ToolsetCheck:
    """ASGI wrapper of the MCP endpoint that rejects unknown toolsets, whatever the method."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, or forward the request."""
        try:
            toolsets_of(HTTPConnection(scope))
        except PrismError as error:
            await refusal(error.body)(scope, receive, send)
            return
        await self._app(scope, receive, send)
