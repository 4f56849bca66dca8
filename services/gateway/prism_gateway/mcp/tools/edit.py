"""The tool prepare_to_edit: the context of an edit in one answer."""

import asyncio
from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.errors import PrismError
from prism_contracts.rpc.anchors import CONCERNING, ConcerningReply
from prism_contracts.rpc.guidance import EDIT_CONTEXT, EditContextReply
from prism_gateway.mcp.answers import edit_context
from prism_gateway.mcp.arguments import BudgetedArguments, FilePath, MaxTokens
from prism_gateway.mcp.places import parse_place
from prism_gateway.mcp.schema import ARRAY, OBJECT, PLACE, RECEIPT, STRING, SYMBOL, TRUNCATED, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset

# Callers know what they edit: an answer this long has the uses, the tests and most sources.
EDIT_TOKENS = 1_200
CONCERNING_MAX = 5
# Documents and tasks are worth no longer wait; without them the answer says so.
CONCERNING_S = 1.0


class PrepareToEdit(BudgetedArguments):
    symbol: Annotated[types.SymbolName, Field(description="Session.get or src/session.py:42")] = ""
    file_path: FilePath = ""
    start_line: types.LineOrNone = 0
    end_line: types.LineOrNone = 0
    max_tokens: MaxTokens = EDIT_TOKENS


async def prepare_to_edit(call: Call, arguments: PrepareToEdit) -> Answer:
    reply = await call.ask(EDIT_CONTEXT, arguments, **_place(arguments))
    return edit_context.answer(reply, arguments.max_tokens, await _concerning(call, arguments, reply))


def _place(arguments: PrepareToEdit) -> dict[str, object]:
    """Returns the place that `symbol` names, if it is written as one: `src/session.py:42`."""
    if arguments.file_path or arguments.start_line:
        return {}
    asked = parse_place(arguments.symbol.strip())
    if asked.symbol:
        return {"symbol": asked.symbol, "path": asked.path}
    if asked.end:
        return {"symbol": "", "path": asked.path, "start_line": asked.start, "end_line": asked.end}
    return {}


async def _concerning(
    call: Call, arguments: PrepareToEdit, reply: EditContextReply
) -> ConcerningReply | None:
    """Returns the documents and open tasks that name the place; None if workspace does not answer."""
    place = {
        "repo": reply.repo,
        "path": reply.file_path,
        "symbol": reply.symbol.qualified_name if reply.symbol else "",
        "start_line": reply.start_line,
        "end_line": reply.end_line,
        "limit": CONCERNING_MAX,
    }
    try:
        async with asyncio.timeout(CONCERNING_S):
            return await call.ask(CONCERNING, arguments, **place)
    except (PrismError, TimeoutError):
        return None


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "prepare_to_edit",
        Toolset.CODE,
        "Before you edit a symbol or lines: source, callers, tests, risks, siblings, rules.",
        PrepareToEdit,
        # Names only: the items have the shape that find_references and read_file return.
        record(
            **PLACE,
            content=STRING,
            symbol=record(**SYMBOL),
            others=ARRAY,
            warnings=ARRAY,
            uses=OBJECT,
            tests=ARRAY,
            test_counts=OBJECT,
            test_commands=ARRAY,
            test_files=ARRAY,
            siblings=ARRAY,
            concerning=ARRAY,
            rules=ARRAY,
            changes=OBJECT,
            notes=ARRAY,
            **TRUNCATED,
            **RECEIPT,
        ),
        prepare_to_edit,
    ),
)
