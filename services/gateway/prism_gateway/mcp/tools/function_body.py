"""The tool get_function_body: the source of a symbol."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.symbols import DEFINITIONS, DefinitionsRequest, SymbolAnswer
from prism_gateway.mcp.answers import symbols
from prism_gateway.mcp.arguments import READ_TOKENS, BudgetedArguments, FilePath, MaxTokens
from prism_gateway.mcp.schema import (
    INTEGER,
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

BODY_KINDS = CALLABLE_KINDS | TYPE_KINDS


class GetFunctionBody(BudgetedArguments):
    symbol: Annotated[types.SymbolName, Field(min_length=1, description="get or Session.get")]
    file_path: FilePath = ""
    max_tokens: MaxTokens = READ_TOKENS


async def get_function_body(call: Call, arguments: GetFunctionBody) -> Answer:
    request = call.request(DefinitionsRequest, arguments, symbols=[arguments.symbol], include_body=True)
    reply = await call.backend.ask(DEFINITIONS, request)
    answer = reply.answers[0]
    # Functions and classes come before variables of the same name. Otherwise the order of the service is
    # kept.
    found = sorted(answer.definitions, key=lambda definition: definition.symbol.kind not in BODY_KINDS)
    if not found:
        raise _not_found(answer)
    return symbols.function_body(found[0], found[1:], reply.receipt, arguments.max_tokens)


def _not_found(answer: SymbolAnswer) -> PrismError:
    shown = (f"There is no definition of {answer.symbol!r}.", symbols.unparsed_sentence(answer.unparsed))
    return PrismError(
        ErrorCode.SYMBOL_NOT_FOUND,
        " ".join(filter(None, shown)),
        "Try a name from details.suggestions, or search_code." if answer.suggestions else "Try search_code.",
        suggestions=list(answer.suggestions),
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_function_body",
        Toolset.GRAPH,
        "Full source of a function, method or class.",
        GetFunctionBody,
        record(
            **PLACE,
            **SYMBOL,
            language=STRING,
            body=STRING,
            others=array(record(repo=STRING, file_path=STRING, start_line=INTEGER)),
            next_actions=STRINGS,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_function_body,
    ),
)
