"""The tool search_docs: search in prose."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc.search import Corpus, SearchLimit, SearchRequest
from prism_gateway.mcp.answers import hits
from prism_gateway.mcp.arguments import BudgetedArguments, Glob
from prism_gateway.mcp.schema import SEARCH_OUTPUT
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset
from prism_gateway.search import search

# Enough of a passage to judge it. read_file has the rest.
PASSAGE_CHARS_MAX = 800


class SearchDocs(BudgetedArguments):
    query: Annotated[types.Query, Field(description="question or words")]
    limit: SearchLimit = 10
    path_filter: Glob = ""
    cursor: types.Cursor = ""


async def search_docs(call: Call, arguments: SearchDocs) -> Answer:
    request = call.request(SearchRequest, arguments, corpus=Corpus.DOCS)
    reply = await search(call.backend, request, arguments.max_tokens, PASSAGE_CHARS_MAX)
    return hits.search(reply, arguments.max_tokens, with_numbers=False)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "search_docs",
        Toolset.DOCS,
        "Search Markdown and other prose: the best passages.",
        SearchDocs,
        SEARCH_OUTPUT,
        search_docs,
    ),
)
