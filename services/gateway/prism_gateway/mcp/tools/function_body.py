"""The tool get_function_body: the source of symbols, or the lines of them that match."""

from typing import Annotated

import re2  # type: ignore[import-untyped]
from pydantic import Field, model_validator

from prism_contracts import types
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.symbols import SYMBOLS_BATCH_MAX
from prism_gateway.mcp.answers import files, symbols
from prism_gateway.mcp.answers.files import ShownPlace
from prism_gateway.mcp.arguments import (
    READ_TOKENS,
    BudgetedArguments,
    FilePath,
    MaxTokens,
)
from prism_gateway.mcp.bodies import find_body
from prism_gateway.mcp.schema import (
    ARRAY,
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


class GetFunctionBody(BudgetedArguments):
    symbol: Annotated[types.SymbolName, Field(description="get or Session.get")] = ""
    symbols: Annotated[list[types.SymbolName], Field(max_length=SYMBOLS_BATCH_MAX)] = []
    file_path: FilePath = ""
    matching: Annotated[types.Pattern, Field(description="regex: only its lines")] = ""
    max_tokens: MaxTokens = READ_TOKENS

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "GetFunctionBody":
        if bool(self.symbol) == bool(self.symbols):
            raise ValueError("give either symbol or symbols")
        return self


async def get_function_body(call: Call, arguments: GetFunctionBody) -> Answer:
    pattern = _compiled(arguments.matching) if arguments.matching else None
    if arguments.symbol and pattern is None:
        body = await find_body(call, arguments, arguments.symbol, arguments.file_path)
        return symbols.function_body(body.best, body.others, body.receipt, arguments.max_tokens)
    asked = arguments.symbols or [arguments.symbol]
    found: list[ShownPlace | PrismError] = []
    receipts: list[Receipt] = []
    for symbol in asked:
        try:
            body = await find_body(call, arguments, symbol, arguments.file_path)
        except PrismError as error:
            if error.code is not ErrorCode.SYMBOL_NOT_FOUND or len(asked) == 1:
                raise
            found.append(error)
        else:
            excerpt = body.excerpt(symbol)
            found.append(files.with_matching_lines(excerpt, pattern.search) if pattern else excerpt)
            receipts.append(body.receipt)
    return files.excerpts(found, asked, files.one_receipt(receipts), arguments.max_tokens)


def _compiled(pattern: str) -> "re2._Regexp[str]":
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)  # takes linear time, whatever the pattern
    except re2.error as error:
        raise PrismError(
            ErrorCode.INVALID_REGEX, f"The pattern {pattern!r} is not valid.", "Escape ( [ { as \\( \\[ \\{."
        ) from error


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_function_body",
        Toolset.GRAPH,
        "Full source of functions, methods or classes, or their lines that match.",
        GetFunctionBody,
        record(
            **PLACE,
            **SYMBOL,
            language=STRING,
            body=STRING,
            others=array(record(repo=STRING, file_path=STRING, start_line=INTEGER)),
            files=ARRAY,
            next_actions=STRINGS,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_function_body,
    ),
)
