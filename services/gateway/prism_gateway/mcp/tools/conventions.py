"""The tool get_codebase_conventions: the coding conventions of a repository, and its written rules."""

from prism_contracts.rpc.guidance import CONVENTIONS
from prism_gateway.mcp.answers import conventions
from prism_gateway.mcp.arguments import BudgetedArguments, Language
from prism_gateway.mcp.schema import INTEGER, OBJECT, RECEIPT, STRING, STRINGS, TRUNCATED, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset


class GetCodebaseConventions(BudgetedArguments):
    language: Language = ""


async def get_codebase_conventions(call: Call, arguments: GetCodebaseConventions) -> Answer:
    reply = await call.ask(CONVENTIONS, arguments)
    return conventions.answer(reply, arguments.max_tokens)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_codebase_conventions",
        Toolset.DOCS,
        "Coding conventions with counts and examples, and the written rules.",
        GetCodebaseConventions,
        record(
            repo=STRING,
            conventions=array(
                record(
                    topic=STRING,
                    language=STRING,
                    statement=STRING,
                    count=INTEGER,
                    total=INTEGER,
                    examples=array(OBJECT),
                )
            ),
            rules=array(record(file_path=STRING, applies=STRING, content=STRING, headings=STRINGS)),
            files_read=INTEGER,
            files=INTEGER,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_codebase_conventions,
    ),
)
