"""The toolset `wiki`: the pages that Prism writes about a repository, and their generation."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc.wiki import (
    GENERATE_WIKI,
    GET_WIKI_PAGE,
    LIST_WIKI_PAGES,
    WIKI_HITS_DEFAULT,
    WIKI_HITS_MAX,
    WIKI_KEY_CHARS_MAX,
)
from prism_contracts.types import Line
from prism_gateway.mcp.answers import wiki
from prism_gateway.mcp.arguments import READ_TOKENS, BudgetedArguments, MaxTokens
from prism_gateway.mcp.schema import BOOLEAN, INTEGER, NUMBER, RECEIPT, STRING, TRUNCATED, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Effect, Tool, Toolset


class OneWiki(BudgetedArguments):
    pass


class ListWikiPages(BudgetedArguments):
    query: types.Query = ""
    limit: Annotated[int, Field(ge=1, le=WIKI_HITS_MAX)] = WIKI_HITS_DEFAULT


class GetWikiPage(BudgetedArguments):
    key: Annotated[
        str,
        Field(
            min_length=1,
            max_length=WIKI_KEY_CHARS_MAX,
            serialization_alias="page",
            description="key of a page",
        ),
    ]
    commit: Annotated[types.CommitIdOrNone, Field(description="returns the text of this commit")] = ""
    start_line: Line = 1
    max_tokens: MaxTokens = READ_TOKENS


async def list_wiki_pages(call: Call, arguments: ListWikiPages) -> Answer:
    reply = await call.ask(LIST_WIKI_PAGES, arguments)
    return wiki.contents(reply, arguments.max_tokens, arguments.query)


async def get_wiki_page(call: Call, arguments: GetWikiPage) -> Answer:
    reply = await call.ask(GET_WIKI_PAGE, arguments)
    return wiki.page(reply, arguments.start_line, arguments.max_tokens)


async def generate_wiki(call: Call, arguments: OneWiki) -> Answer:
    return wiki.contents(await call.ask(GENERATE_WIKI, arguments), arguments.max_tokens)


CONTENTS = record(
    repo=STRING,
    state=STRING,
    commit=STRING,
    is_stale=BOOLEAN,
    pages=array(
        record(
            key=STRING,
            title=STRING,
            kind=STRING,
            commit=STRING,
            written_at=STRING,
            is_stale=BOOLEAN,
            generated_by=STRING,
        )
    ),
    failed_pages=array(record(key=STRING, title=STRING, error=STRING, attempts=INTEGER)),
    error=STRING,
    hits=array(
        record(key=STRING, title=STRING, heading=STRING, start_line=INTEGER, excerpt=STRING, score=NUMBER)
    ),
    started_at=STRING,
    finished_at=STRING,
    **TRUNCATED,
    **RECEIPT,
)

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "list_wiki_pages",
        Toolset.WIKI,
        "The pages of a repository's wiki, and its state. With query, the sections that match best.",
        ListWikiPages,
        CONTENTS,
        list_wiki_pages,
    ),
    Tool(
        "get_wiki_page",
        Toolset.WIKI,
        "A wiki page as Markdown: overview, a component, flows, types, how to run, conventions, glossary.",
        GetWikiPage,
        record(
            repo=STRING,
            key=STRING,
            title=STRING,
            kind=STRING,
            commit=STRING,
            written_at=STRING,
            is_stale=BOOLEAN,
            generated_by=STRING,
            content=STRING,
            start_line=INTEGER,
            end_line=INTEGER,
            line_count=INTEGER,
            versions=array(record(commit=STRING, written_at=STRING)),
            **TRUNCATED,
            **RECEIPT,
        ),
        get_wiki_page,
    ),
    Tool(
        "generate_wiki",
        Toolset.WIKI,
        "Write the wiki pages that are missing, failed or older than the index. Takes seconds; repeat to resume.",
        OneWiki,
        CONTENTS,
        generate_wiki,
        Effect.TAKES,
    ),
)
