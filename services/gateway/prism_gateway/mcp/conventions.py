"""The tool get_codebase_conventions: how code is written in a repository, and the rules that it has written down."""

from itertools import groupby
from typing import Any

from prism_contracts import rpc
from prism_gateway.budget import chars
from prism_gateway.mcp import present, quotes
from prism_gateway.mcp.code import ANSWER_TOKENS, RECEIPT, STRINGS, TRUNCATED, Language
from prism_gateway.mcp.tool import (
    INTEGER,
    OBJECT,
    STRING,
    Answer,
    AnyTool,
    Call,
    MaxTokens,
    ScopedArguments,
    Tool,
    Toolset,
    array,
    record,
)

Json = dict[str, Any]

EXAMPLE_CHARS = 60
# Of a convention beside its statement and its examples.
CONVENTION_CHARS = 100


class GetCodebaseConventions(ScopedArguments):
    language: Language = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


async def get_codebase_conventions(call: Call, arguments: GetCodebaseConventions) -> Answer:
    request = rpc.ConventionsRequest(**call.scope(arguments), language=arguments.language)
    return answer(await call.backend.conventions(request), arguments.max_tokens)


def answer(reply: rpc.ConventionsReply, max_tokens: int) -> Answer:
    """Conventions first; rules get the room that is left. Examples go before a convention does."""
    room = chars(max_tokens)
    conventions = reply.conventions
    if sum(map(_size, conventions)) > room:
        conventions = tuple(one.model_copy(update={"examples": ()}) for one in conventions)
    while conventions and sum(map(_size, conventions)) > room:
        conventions = conventions[:-1]
    rules = quotes.fit_documents(reply.rules, room - sum(map(_size, conventions)))
    structured: Json = {
        "repo": reply.repo,
        "conventions": [one.model_dump(mode="json") for one in conventions],
        "rules": [document.model_dump(mode="json") for document in rules],
        "files_read": reply.files_read,
        "files": reply.files,
        "receipt": present.receipt_json(reply.receipt),
    }
    head = f"{reply.repo}: inferred from {reply.files_read} of {reply.files} files of code. What has no majority is not told."
    foot = [present.receipt_line(reply.receipt)]
    if conventions != reply.conventions or rules != reply.rules:
        structured["truncated"] = True
        foot.append(f"note: cut to max_tokens={max_tokens}: raise it, or ask for one language.")
    blocks = [
        "\n".join([f"## {language or 'repository'}", *map(_line, some)])
        for language, some in groupby(conventions, key=lambda one: one.language)
    ]
    return Answer(
        structured, "\n\n".join(filter(None, [head, *blocks, quotes.rules_block(rules), "\n".join(foot)]))
    )


def _size(convention: rpc.Convention) -> int:
    examples = sum(len(one.file_path) + len(one.text) + EXAMPLE_CHARS for one in convention.examples)
    return len(convention.statement) + examples + CONVENTION_CHARS


def _line(convention: rpc.Convention) -> str:
    share = f" ({convention.count} of {convention.total})"
    examples = [f"    {one.file_path}:{one.line} {one.text}" for one in convention.examples]
    return "\n".join([f"- {convention.topic}: {convention.statement}{share}", *examples])


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_codebase_conventions",
        Toolset.DOCS,
        "How code is written here, with counts and examples: names, layout, tests, errors, logging, docs, tools, commands; and written rules.",
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
