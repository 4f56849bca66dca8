"""What tools are asked with: the arguments that many have in common, each said once."""

from enum import StrEnum
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from prism_contracts import types
from prism_gateway.budget import TOKENS_MAX, TOKENS_MIN
from prism_gateway.mcp.schema import Schema

ANSWER_TOKENS = 4_000
# Reading and listing give more by default: who asks for a file wants the file.
READ_TOKENS = 10_000

MaxTokens = Annotated[int, Field(ge=TOKENS_MIN, le=TOKENS_MAX)]
FilePath = Annotated[types.FilePath, Field(serialization_alias="path")]  # as requests call it
Glob = Annotated[types.Glob, Field(description="glob: src/**/*.py")]
Language = Annotated[types.Language, Field(description="python, go, …")]


class Arguments(BaseModel):
    """Arguments of a tool: an unknown name or a wrong type is an error, nothing is guessed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScopedArguments(Arguments):
    """Arguments of a tool that asks about a repository."""

    # What they are is told once, in the instructions of the server.
    repo: types.RepoKeyOrNone = ""
    ref: types.RefOrNone = ""


def _budget_last(schema: Schema) -> None:
    """Behind what a tool itself asks for, though it is inherited."""
    fields = schema["properties"]
    fields["max_tokens"] = fields.pop("max_tokens")


class BudgetedArguments(ScopedArguments):
    """The same of one whose answer fits into a budget."""

    model_config = ConfigDict(json_schema_extra=_budget_last)

    max_tokens: MaxTokens = ANSWER_TOKENS


def one_of(names: type[StrEnum]) -> AfterValidator:
    """A value is empty or one of these, or else the error names them."""
    return AfterValidator(partial(_check_one_of, names))


def _check_one_of(names: type[StrEnum], value: str) -> str:
    if value and value not in set(names):
        raise ValueError(f"is one of {', '.join(names)}")
    return value
