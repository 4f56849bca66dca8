"""The tool read_file: lines of a file, or several places, each lines or a symbol."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, model_validator

from prism_contracts import types
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.files import READ_FILE, ReadFileReply
from prism_gateway.mcp.answers import files
from prism_gateway.mcp.answers.files import ShownPlace
from prism_gateway.mcp.arguments import READ_TOKENS, BudgetedArguments, FilePath, MaxTokens
from prism_gateway.mcp.bodies import find_body
from prism_gateway.mcp.places import AskedPlace, parse_place
from prism_gateway.mcp.schema import ARRAY, INTEGER, PLACE, RECEIPT, STRING, TRUNCATED, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset

PLACES_MAX = 20
# Errors about one of several places. The others are still shown.
ABOUT_A_PLACE = {
    ErrorCode.FILE_NOT_FOUND,
    ErrorCode.FILE_SKIPPED,
    ErrorCode.INVALID_ARGUMENT,
    ErrorCode.INVALID_PATH,
    ErrorCode.SYMBOL_NOT_FOUND,
}


class ReadFile(BudgetedArguments):
    file_path: FilePath = ""
    start_line: types.Line = 1
    end_line: Annotated[types.LineOrNone, Field(description="0: end of file")] = 0
    places: Annotated[
        list[types.Place], Field(max_length=PLACES_MAX, description="a.py:10-40, b.py:7, Session.get")
    ] = []
    max_tokens: MaxTokens = READ_TOKENS

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "ReadFile":
        if bool(self.file_path) == bool(self.places):
            raise ValueError("give either file_path or places")
        return self


async def read_file(call: Call, arguments: ReadFile) -> Answer:
    if arguments.places:
        return await read_places(call, arguments, arguments.places)
    asked = parse_place(arguments.file_path)
    if asked.symbol:
        return await read_places(call, arguments, [arguments.file_path])
    if not asked.end:
        return files.read_file(await call.ask(READ_FILE, arguments), arguments.max_tokens)
    reply = await _lines(call, arguments, asked)
    return files.read_file(reply, arguments.max_tokens)


async def read_places(call: Call, arguments: ReadFile, places: Sequence[str]) -> Answer:
    """Returns several places in one answer."""
    found: list[ShownPlace | PrismError] = []
    receipts: list[Receipt] = []
    for place in places:
        try:
            excerpt, receipt = await _read(call, arguments, place)
        except PrismError as error:
            if error.code not in ABOUT_A_PLACE:
                raise
            found.append(error)
        else:
            found.append(excerpt)
            receipts.append(receipt)
    return files.excerpts(found, places, files.one_receipt(receipts), arguments.max_tokens)


async def _read(call: Call, arguments: ReadFile, place: str) -> tuple[ShownPlace, Receipt]:
    asked = parse_place(place)
    if asked.symbol:
        return await _read_symbol(call, arguments, place, asked.symbol, asked.path)
    if not asked.is_name:
        return await _read_lines(call, arguments, place, asked)
    try:
        return await _read_symbol(call, arguments, place, place, "")
    except PrismError as error:
        if error.code is not ErrorCode.SYMBOL_NOT_FOUND:
            raise
        try:
            return await _read_lines(call, arguments, place, asked)
        except PrismError:
            raise error from None


async def _read_symbol(
    call: Call, arguments: ReadFile, place: str, symbol: str, path: str
) -> tuple[ShownPlace, Receipt]:
    body = await find_body(call, arguments, symbol, path)
    return body.excerpt(place), body.receipt


async def _read_lines(
    call: Call, arguments: ReadFile, place: str, asked: AskedPlace
) -> tuple[ShownPlace, Receipt]:
    reply = await _lines(call, arguments, asked)
    return files.excerpt(reply, place), reply.receipt


async def _lines(call: Call, arguments: ReadFile, asked: AskedPlace) -> ReadFileReply:
    return await call.ask(
        READ_FILE,
        arguments,
        path=asked.path,
        start_line=asked.start,
        end_line=asked.end,
        around=asked.is_line,
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "read_file",
        Toolset.CODE,
        "Lines of a file, or several places and symbols in one call.",
        ReadFile,
        record(
            **PLACE, line_count=INTEGER, content=STRING, language=STRING, files=ARRAY, **TRUNCATED, **RECEIPT
        ),
        read_file,
    ),
)
