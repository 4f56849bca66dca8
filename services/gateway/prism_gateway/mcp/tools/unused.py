"""The tool find_unused: definitions that nothing reaches."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.code import SymbolKind
from prism_contracts.rpc.unused import UNUSED, UNUSED_LIMIT_MAX, UnusedGroup, UnusedRequest
from prism_gateway.mcp.answers import unused as unused_text
from prism_gateway.mcp.arguments import BudgetedArguments, Glob, Language, OneOf
from prism_gateway.mcp.schema import BOOLEAN, INTEGER, OBJECT, RECEIPT, STRING, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset, ask_for_what_fits

GroupName = Annotated[types.Word, OneOf(UnusedGroup)]
KindName = Annotated[types.Word, OneOf(SymbolKind), Field(description="function, class, …")]


class FindUnused(BudgetedArguments):
    path_filter: Glob = ""
    language: Language = ""
    kind: KindName = ""
    group: GroupName = ""
    limit: Annotated[int, Field(ge=1, le=UNUSED_LIMIT_MAX)] = 50
    cursor: types.Cursor = ""


async def find_unused(call: Call, arguments: FindUnused) -> Answer:
    reply, _ = await ask_for_what_fits(
        call,
        UNUSED,
        call.request(UnusedRequest, arguments, kind=arguments.kind or None, group=arguments.group or None),
        lambda reply: len(reply.definitions),
        lambda reply: unused_text.fit_unused(reply, arguments.max_tokens),
    )
    return unused_text.unused(reply)


NODE = record(file_path=STRING, line=INTEGER, symbol=STRING, kind=STRING)

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "find_unused",
        Toolset.GRAPH,
        "Dead code: definitions that nothing reaches, how sure that is, and which line may be a use after all.",
        FindUnused,
        record(
            definitions=array(
                record(
                    node=NODE,
                    group=STRING,
                    certain=BOOLEAN,
                    exported=BOOLEAN,
                    users=array(NODE),
                    text_lines=INTEGER,
                    references_elsewhere=INTEGER,
                    doubts=array(record(reason=STRING, file_path=STRING, line=INTEGER, text=STRING)),
                )
            ),
            counts=OBJECT,
            examined=INTEGER,
            not_compared=INTEGER,
            other_languages=OBJECT,
            next_cursor=STRING,
            **RECEIPT,
        ),
        find_unused,
    ),
)
