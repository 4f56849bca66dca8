"""The toolset `docs`: prose."""

from typing import Annotated

from pydantic import Field

from prism_contracts import rpc
from prism_gateway.mcp import present
from prism_gateway.mcp.code import ANSWER_TOKENS, SEARCH_OUTPUT, Glob, Limit
from prism_gateway.mcp.tool import SCOPE, Answer, AnyTool, Call, MaxTokens, ScopedArguments, Tool, Toolset
from prism_gateway.search import search

# Enough of a passage to see whether it answers; read_file has the rest.
PASSAGE_CHARS_MAX = 800


class SearchDocs(ScopedArguments):
    query: Annotated[str, Field(description="question or words")]
    limit: Limit = 10
    path_filter: Glob = ""
    cursor: str = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


async def search_docs(call: Call, arguments: SearchDocs) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "max_tokens"})
    request = rpc.SearchRequest(**call.scope(arguments), **given, corpus=rpc.Corpus.DOCS)
    reply = await search(call.backend, request, arguments.max_tokens, PASSAGE_CHARS_MAX)
    return present.search(reply, arguments.max_tokens)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "search_docs",
        Toolset.DOCS,
        "Find passages of Markdown and other prose; best first, with the text.",
        SearchDocs,
        SEARCH_OUTPUT,
        search_docs,
    ),
)
