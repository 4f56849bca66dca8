"""The tool get_repo_context: the documents of a repository, by section."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc.guidance import REPO_CONTEXT, ContextSection, RepoContextRequest
from prism_gateway.mcp.answers import repo_context
from prism_gateway.mcp.arguments import BudgetedArguments, OneOf
from prism_gateway.mcp.schema import INTEGER, RECEIPT, STRING, STRINGS, TRUNCATED, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset

Section = Annotated[types.Word, OneOf(ContextSection), Field(description=", ".join(ContextSection))]


SectionName = Annotated[types.Word, OneOf(ContextSection)]


class GetRepoContext(BudgetedArguments):
    section: Section = ""
    sections: Annotated[list[SectionName], Field(max_length=len(ContextSection))] = []


async def get_repo_context(call: Call, arguments: GetRepoContext) -> Answer:
    request = call.request(RepoContextRequest, arguments, section=arguments.section or None)
    return repo_context.answer(await call.backend.ask(REPO_CONTEXT, request), arguments.max_tokens)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_repo_context",
        Toolset.DOCS,
        "The repository's own documents, by section.",
        GetRepoContext,
        record(
            repo=STRING,
            documents=array(
                record(
                    section=STRING,
                    file_path=STRING,
                    start_line=INTEGER,
                    end_line=INTEGER,
                    line_count=INTEGER,
                    content=STRING,
                    headings=STRINGS,
                )
            ),
            missing=STRINGS,
            left_out=INTEGER,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_repo_context,
    ),
)
