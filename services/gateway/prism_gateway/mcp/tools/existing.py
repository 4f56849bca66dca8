"""The tool check_exists: existing code for an intent."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc.guidance import EXISTING, EXISTING_MAX
from prism_gateway.mcp.answers import existing
from prism_gateway.mcp.arguments import BudgetedArguments, Language
from prism_gateway.mcp.schema import (
    ARRAY,
    NUMBER,
    PLACE,
    RECEIPT,
    STRING,
    STRINGS,
    SYMBOL,
    TRUNCATED,
    array,
    record,
)
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset


class CheckExists(BudgetedArguments):
    intent: Annotated[types.Query, Field(description="what it should do, or its signature")]
    language: Language = ""
    limit: Annotated[int, Field(ge=1, le=EXISTING_MAX)] = EXISTING_MAX


async def check_exists(call: Call, arguments: CheckExists) -> Answer:
    reply = await call.ask(EXISTING, arguments)
    return existing.answer(reply, arguments.max_tokens)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "check_exists",
        Toolset.CODE,
        "Before you write a helper: whether one exists already, with a verdict.",
        CheckExists,
        record(
            verdict=STRING,
            existing=array(record(verdict=STRING, score=NUMBER, **PLACE, **SYMBOL, reasons=STRINGS)),
            words=STRINGS,
            absent_words=STRINGS,
            places=ARRAY,
            **TRUNCATED,
            **RECEIPT,
        ),
        check_exists,
    ),
)
