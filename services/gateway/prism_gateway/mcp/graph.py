"""The toolset `graph`: from a symbol to its source, and to what hangs on it."""

from typing import Annotated

from pydantic import Field

from prism_contracts import rpc
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.mcp import present
from prism_gateway.mcp.code import PLACE, READ_TOKENS, RECEIPT, STRINGS, SYMBOL, TRUNCATED
from prism_gateway.mcp.tool import (
    INTEGER,
    STRING,
    Answer,
    AnyTool,
    Call,
    MaxTokens,
    ScopedArguments,
    Tool,
    Toolset,
    array,
    record,
)

BODY_KINDS = CALLABLE_KINDS | TYPE_KINDS


class GetFunctionBody(ScopedArguments):
    symbol: Annotated[str, Field(min_length=1, description="get or Session.get")]
    file_path: str = ""
    max_tokens: MaxTokens = READ_TOKENS


async def get_function_body(call: Call, arguments: GetFunctionBody) -> Answer:
    reply = await call.backend.definitions(
        rpc.DefinitionsRequest(
            **call.scope(arguments),
            symbols=(arguments.symbol,),
            path=arguments.file_path,
            include_body=True,
        )
    )
    answer = reply.answers[0]
    # A function or class of the name comes before a variable of the name; the order is else the service's.
    found = sorted(answer.definitions, key=lambda definition: definition.symbol.kind not in BODY_KINDS)
    if not found:
        raise _not_found(answer)
    return present.function_body(found[0], found[1:], reply.receipt, arguments.max_tokens)


def _not_found(answer: rpc.SymbolAnswer) -> PrismError:
    told = (f"There is no definition of {answer.symbol!r}.", present.unparsed_sentence(answer.unparsed))
    return PrismError(
        ErrorCode.SYMBOL_NOT_FOUND,
        " ".join(filter(None, told)),
        "Try one of details.suggestions, or search_code." if answer.suggestions else "Try search_code.",
        suggestions=list(answer.suggestions),
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_function_body",
        Toolset.GRAPH,
        "The whole source of one function, method or class.",
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
