"""What a tool is: a name, arguments, the shape of its result, and one async function.

Agents pay for every definition by the token, so schemas are made compact once, when the module is loaded: titles
and empty defaults go, and the shape of a result is written by hand instead of spelled out from models.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

from mcp.types import Tool as Definition
from mcp.types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from prism_contracts.records import Token
from prism_contracts.rpc import REF_CHARS_MAX
from prism_gateway.backend import Backend
from prism_gateway.budget import TOKENS_MAX, TOKENS_MIN

Schema = dict[str, Any]

MaxTokens = Annotated[int, Field(ge=TOKENS_MIN, le=TOKENS_MAX)]


class Toolset(StrEnum):
    """The groups in which tools are listed."""

    CODE = "code"
    GRAPH = "graph"
    DOCS = "docs"
    ADMIN = "admin"


class Arguments(BaseModel):
    """Arguments of a tool: an unknown name or a wrong type is an error, nothing is guessed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScopedArguments(Arguments):
    """Arguments of a tool that asks about a repository."""

    # What they are is told once, in the instructions of the server.
    repo: str = ""
    ref: Annotated[str, Field(max_length=REF_CHARS_MAX)] = ""


SCOPE = frozenset({"repo", "ref"})


@dataclass(frozen=True)
class Call:
    """Who calls, what the headers say, and whom to ask."""

    backend: Backend
    caller: Token
    repo: str  # of the header X-Prism-Repo
    ref: str  # of X-Prism-Ref
    wait_for_commit: str  # of X-Prism-Wait-For-Commit
    tool_count: int  # how many tools there are, listed or not

    def scope(self, arguments: ScopedArguments) -> dict[str, str]:
        """What of a tenant a request is about; an argument wins over its header."""
        return {
            "tenant": self.caller.tenant,
            "repo": arguments.repo or self.repo,
            "ref": arguments.ref or self.ref,
            "wait_for_commit": self.wait_for_commit,
        }


@dataclass(frozen=True)
class Answer:
    """A result: data for programs, a short text for readers, and facts that no agent should pay for."""

    structured: dict[str, Any]
    text: str
    meta: dict[str, Any] | None = None


READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
# Fetches from the network into the index. What was indexed is replaced by what is newer; nothing is destroyed.
FETCHES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[ArgumentsT]):
    """One tool."""

    name: str
    toolset: Toolset
    description: str
    arguments: type[ArgumentsT]
    output: Schema
    run: Callable[[Call, ArgumentsT], Awaitable[Answer]]
    writes: bool = False

    def definition(self) -> Definition:
        """The tool as `tools/list` shows it."""
        return Definition(
            name=self.name,
            description=self.description,
            input_schema=input_schema(self.arguments),
            output_schema=self.output,
            annotations=FETCHES if self.writes else READS,
        )


AnyTool = Tool[Any]


def one_of(names: type[StrEnum], value: str) -> str:
    """A value that is empty or one of these. Raises ValueError that names them."""
    if value and value not in set(names):
        raise ValueError(f"is one of {', '.join(names)}")
    return value


# Pieces of output schemas. What has no type is a string: to say so at each would cost an agent a tenth of all definitions.
STRING: Schema = {}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}


def record(**fields: Schema) -> Schema:
    """An object with these fields, any of which may be absent."""
    return {"type": "object", "properties": fields}


def array(items: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": items}


# Titles tell nothing; lower bounds, and how much an answer may cost at most, are what nobody runs into. The error names them.
UNTOLD = frozenset({"title", "minimum", "minLength", "minItems", "maxLength"})


def input_schema(arguments: type[Arguments]) -> Schema:
    """The JSON schema of arguments without what costs tokens and tells nothing."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    schema["properties"] = {
        name: _compact(name, field) for name, field in schema.get("properties", {}).items()
    }
    return schema


def _compact(name: str, field: Schema) -> Schema:
    untold = UNTOLD | {"maximum"} if name == "max_tokens" else UNTOLD
    return {
        key: value
        for key, value in field.items()
        if key not in untold and not (key == "default" and not value)
    }
