"""Arguments that many tools share."""

from enum import StrEnum
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from prism_contracts import types
from prism_gateway.budget import TOKENS_MAX, TOKENS_MIN
from prism_gateway.mcp.schema import Schema

ANSWER_TOKENS = 4_000
# Reading and listing have a higher default: a caller that requests a file wants all of it.
READ_TOKENS = 10_000

MaxTokens = Annotated[int, Field(ge=TOKENS_MIN, le=TOKENS_MAX)]
FilePath = Annotated[types.FilePath, Field(serialization_alias="path")]  # the name in requests
Glob = Annotated[types.Glob, Field(description="glob: src/**/*.py")]
Language = Annotated[types.Language, Field(description="python, go, …")]


class Arguments(BaseModel):
    """Arguments of a tool. An unknown name or a wrong type is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScopedArguments(Arguments):
    """Arguments of a tool about a repository."""

    # The instructions of the server describe them once for all tools.
    repo: types.RepoKeyOrNone = ""
    ref: types.RefOrNone = ""


def _budget_last(schema: Schema) -> None:
    """List the inherited arguments after the tool's own."""
    fields = schema["properties"]
    fields["max_tokens"] = fields.pop("max_tokens")


class BudgetedArguments(ScopedArguments):
    """Arguments of a tool whose answer fits into a token budget."""

    model_config = ConfigDict(json_schema_extra=_budget_last)

    max_tokens: MaxTokens = ANSWER_TOKENS


def one_of(names: type[StrEnum]) -> AfterValidator:
    """Validates that a value is empty or one of these; the error lists them."""
    return AfterValidator(partial(_check_one_of, names))


def _check_one_of(names: type[StrEnum], value: str) -> str:
    if value and value not in set(names):
        raise ValueError(f"is one of {', '.join(names)}")
    return value
