"""What a tool is: a name, arguments, the shape of its result, and one async function."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Generic, TypeVar

from mcp.types import Tool as Definition
from mcp.types import ToolAnnotations

from prism_contracts.base import Message
from prism_contracts.records import Token
from prism_contracts.registry import Rpc
from prism_gateway.backend import Backend
from prism_gateway.mcp.arguments import Arguments, ScopedArguments
from prism_gateway.mcp.schema import Schema, input_schema

Json = dict[str, Any]

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
RequestT = TypeVar("RequestT", bound=Message)
ReplyT = TypeVar("ReplyT", bound=Message)


class Toolset(StrEnum):
    """The groups in which tools are listed."""

    CODE = "code"
    GRAPH = "graph"
    DOCS = "docs"
    ADMIN = "admin"


@dataclass(frozen=True)
class Call:
    """Who calls, what the headers say, and whom to ask."""

    backend: Backend
    caller: Token
    repo: str  # of the header X-Prism-Repo
    ref: str  # of X-Prism-Ref
    wait_for_commit: str  # of X-Prism-Wait-For-Commit
    tool_count: int  # how many tools there are, listed or not

    def request(self, request: type[RequestT], arguments: ScopedArguments, /, **others: object) -> RequestT:
        """What arguments ask for: their values by name, but for `others`. An argument wins over its header."""
        scope = {
            "tenant": self.caller.tenant,
            "repo": arguments.repo or self.repo,
            "ref": arguments.ref or self.ref,
            "wait_for_commit": self.wait_for_commit,
        }
        return request.model_validate(arguments.model_dump(by_alias=True) | scope | others)

    async def ask(
        self, rpc: Rpc[RequestT, ReplyT], arguments: ScopedArguments, /, **others: object
    ) -> ReplyT:
        """Send the request that the arguments describe, and return the reply; see `request`."""
        return await self.backend.ask(rpc, self.request(rpc.request, arguments, **others))


@dataclass(frozen=True)
class Answer:
    """A result: data for programs, a short text for readers, and facts that no agent should pay for."""

    structured: Json
    text: str
    meta: Json | None = None


class Effect(Enum):
    """What a tool does to the index, in the words of MCP. What was indexed is replaced by what is newer; that destroys nothing."""

    READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
    # From the network.
    FETCHES = ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
    )
    # What the caller sends.
    TAKES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    FORGETS = ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
    )


@dataclass(frozen=True)
class Tool(Generic[ArgumentsT]):
    """One tool."""

    name: str
    toolset: Toolset
    description: str
    arguments: type[ArgumentsT]
    output: Schema
    run: Callable[[Call, ArgumentsT], Awaitable[Answer]]
    effect: Effect = Effect.READS

    def definition(self) -> Definition:
        """The tool as `tools/list` shows it."""
        return Definition(
            name=self.name,
            description=self.description,
            input_schema=input_schema(self.arguments),
            output_schema=self.output,
            annotations=self.effect.value,
        )


AnyTool = Tool[Any]


async def ask_for_what_fits(
    call: Call,
    rpc: Rpc[RequestT, ReplyT],
    request: RequestT,
    length: Callable[[ReplyT], int],
    fitting: Callable[[ReplyT], int],
) -> tuple[ReplyT, bool]:
    """A page of at most as many items as fit, and whether there were more.

    `length` says how many a reply has, `fitting` how many of them fit. If not all do, the request is made again with that as its
    `limit`: only then does the reply's cursor go on right behind what is shown.
    """
    reply = await call.backend.ask(rpc, request)
    kept = fitting(reply)
    if kept >= length(reply):
        return reply, False
    return await call.backend.ask(rpc, request.model_copy(update={"limit": kept})), True
