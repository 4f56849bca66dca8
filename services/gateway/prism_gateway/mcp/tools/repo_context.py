"""The tool get_repo_context: what a repository says of itself, by section."""

from typing import Annotated

from pydantic import Field

from prism_contracts import rpc, types
from prism_gateway.mcp.answers import repo_context
from prism_gateway.mcp.arguments import BudgetedArguments, one_of
from prism_gateway.mcp.schema import INTEGER, RECEIPT, STRING, STRINGS, TRUNCATED, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset

Section = Annotated[types.Word, one_of(rpc.ContextSection), Field(description=", ".join(rpc.ContextSection))]


class GetRepoContext(BudgetedArguments):
    section: Section = ""


async def get_repo_context(call: Call, arguments: GetRepoContext) -> Answer:
    request = call.request(rpc.RepoContextRequest, arguments, section=arguments.section or None)
    return repo_context.answer(await call.backend.repo_context(request), arguments.max_tokens)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_repo_context",
        Toolset.DOCS,
        "What the repository's own documents say: vision, readme, architecture, decisions, contributing, changelog.",
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
