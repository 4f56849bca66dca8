"""The parts of a tool: name, description, arguments, output schema, and one async function."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Generic, TypeVar

from mcp.types import Tool as Definition
from mcp.types import ToolAnnotations

from prism_contracts.base import Message
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import CallerRequest
from prism_gateway.accounting.history import HistoryLog
from prism_gateway.backend import Backend
from prism_gateway.callers import Caller
from prism_gateway.mcp.arguments import Arguments, ScopedArguments
from prism_gateway.mcp.schema import Schema, input_schema

Json = dict[str, Any]

# Progress, total, message of a notification.
Report = Callable[[float, float | None, str | None], Awaitable[None]]

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
RequestT = TypeVar("RequestT", bound=CallerRequest)
ReplyT = TypeVar("ReplyT", bound=Message)


class Toolset(StrEnum):
    """The groups of tools."""

    CODE = "code"
    GRAPH = "graph"
    DOCS = "docs"
    CONTEXT = "context"
    WIKI = "wiki"
    DOCUMENTS = "documents"
    ADMIN = "admin"
    FEEDBACK = "feedback"
    TASKS = "tasks"


@dataclass(frozen=True)
class Call:
    """The context of a call: the caller, the headers, the services."""

    backend: Backend
    repo: str  # from the header X-Prism-Repo
    ref: str  # from X-Prism-Ref
    wait_for_commit: str  # from X-Prism-Wait-For-Commit
    tool_count: int  # the number of tools, listed or not
    history: HistoryLog  # takes feedback
    report: Report | None = None  # notifies the client of progress, if it asked for that

    @property
    def caller(self) -> Caller:
        """Who calls."""
        return self.backend.caller

    def request(self, request: type[RequestT], arguments: ScopedArguments, /, **others: object) -> RequestT:
        """Returns the request for the arguments; `others` override fields.

        An argument overrides its header.
        """
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
    """A result: data for programs, a short text for readers, and metadata that an agent need not read."""

    structured: Json
    text: str
    meta: Json | None = None


class Effect(Enum):
    """The effect of a tool on the index, as MCP annotations.

    Replacing indexed files by newer ones is not destructive.
    """

    READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
    # Fetches from the network.
    FETCHES = ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
    )
    # Stores what the caller sends.
    TAKES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    FORGETS = ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
    )


@dataclass(frozen=True)
class Tool(Generic[ArgumentsT]):
    """A tool."""

    name: str
    toolset: Toolset
    description: str
    arguments: type[ArgumentsT]
    output: Schema
    run: Callable[[Call, ArgumentsT], Awaitable[Answer]]
    effect: Effect = Effect.READS

    def definition(self, *, structured: bool) -> Definition:
        """Returns the tool as listed by `tools/list`. A listed output schema promises structured content."""
        return Definition(
            name=self.name,
            description=self.description,
            input_schema=input_schema(self.arguments),
            output_schema=self.output if structured else None,
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
    """Returns a page of the items that fit, and whether there were more.

    `length` counts the items of a reply, `fitting` those that fit. If not all fit, the request is repeated
    with that number as its `limit`, so that the cursor continues right after the last item shown.
    """
    reply = await call.backend.ask(rpc, request)
    kept = fitting(reply)
    if kept >= length(reply):
        return reply, False
    return await call.backend.ask(rpc, request.model_copy(update={"limit": kept})), True
