"""Arguments that many tools share."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

from prism_contracts import types
from prism_gateway.budget import TOKENS_MAX, TOKENS_MIN
from prism_gateway.mcp.schema import Schema

ANSWER_TOKENS = 4_000
# Reading and listing have a higher default: a caller that requests a file wants all of it.
READ_TOKENS = 10_000
# Longer enumerations cost more tokens than an error that lists them.
ENUM_LISTED_MAX = 9

MaxTokens = Annotated[int, Field(ge=TOKENS_MIN, le=TOKENS_MAX)]
FilePath = Annotated[types.FilePath, Field(serialization_alias="path")]  # the name in requests
Glob = types.Glob
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


@dataclass(frozen=True)
class OneOf:
    """Validates that a value is empty or one of these; the error lists them, and so does the schema if they are few."""

    names: type[StrEnum]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Adds the check to the schema of the type."""
        return no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        """Adds the names to the JSON schema."""
        found = handler(schema)
        return {**found, "enum": list(self.names)} if len(self.names) <= ENUM_LISTED_MAX else found

    def _check(self, value: str) -> str:
        if value and value not in set(self.names):
            raise ValueError(f"is one of {', '.join(self.names)}")
        return value
