"""The tool prepare_to_edit: the context of an edit in one answer."""

from prism_contracts import types
from prism_contracts.rpc.guidance import EDIT_CONTEXT
from prism_gateway.mcp.answers import edit_context
from prism_gateway.mcp.arguments import BudgetedArguments, FilePath, MaxTokens
from prism_gateway.mcp.schema import ARRAY, OBJECT, PLACE, RECEIPT, STRING, SYMBOL, TRUNCATED, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset

# Callers know what they edit: an answer this long has the uses, the tests and most sources.
EDIT_TOKENS = 1_200


class PrepareToEdit(BudgetedArguments):
    symbol: types.SymbolName = ""
    file_path: FilePath = ""
    start_line: types.LineOrNone = 0
    end_line: types.LineOrNone = 0
    max_tokens: MaxTokens = EDIT_TOKENS


async def prepare_to_edit(call: Call, arguments: PrepareToEdit) -> Answer:
    reply = await call.ask(EDIT_CONTEXT, arguments)
    return edit_context.answer(reply, arguments.max_tokens)


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
            test_files=ARRAY,
            siblings=ARRAY,
            rules=ARRAY,
            changes=OBJECT,
            notes=ARRAY,
            **TRUNCATED,
            **RECEIPT,
        ),
        prepare_to_edit,
    ),
)
