"""The tool get_codebase_conventions: the coding conventions of a repository, and its written rules."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc.guidance import CONVENTIONS, ConventionsRequest
from prism_gateway.mcp.answers import conventions
from prism_gateway.mcp.arguments import BudgetedArguments, Language
from prism_gateway.mcp.schema import INTEGER, OBJECT, RECEIPT, STRING, STRINGS, TRUNCATED, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset


class GetCodebaseConventions(BudgetedArguments):
    language: Language = ""
    query: Annotated[types.Query, Field(description="words of the topics wanted")] = ""


async def get_codebase_conventions(call: Call, arguments: GetCodebaseConventions) -> Answer:
    request = call.request(ConventionsRequest, arguments)
    reply = await call.backend.ask(CONVENTIONS, request)
    return conventions.answer(conventions.about(reply, arguments.query), arguments.max_tokens)


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
