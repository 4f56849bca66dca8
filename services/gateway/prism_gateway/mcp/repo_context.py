"""The tool get_repo_context: what a repository says of itself, by section."""

from functools import partial
from itertools import groupby
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from prism_contracts import rpc
from prism_gateway.budget import chars
from prism_gateway.mcp import present, quotes
from prism_gateway.mcp.code import ANSWER_TOKENS, RECEIPT, STRINGS, TRUNCATED
from prism_gateway.mcp.tool import (
    INTEGER,
    STRING,
    Answer,
    AnyTool,
    Call,
    MaxTokens,
    ScopedArguments,
    Tool,
    Toolset,
    array,
    one_of,
    record,
)

Section = Annotated[
    str, AfterValidator(partial(one_of, rpc.ContextSection)), Field(description=", ".join(rpc.ContextSection))
]


class GetRepoContext(ScopedArguments):
    section: Section = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


async def get_repo_context(call: Call, arguments: GetRepoContext) -> Answer:
    request = rpc.RepoContextRequest(
        **call.scope(arguments),
        section=rpc.ContextSection(arguments.section) if arguments.section else None,
    )
    return answer(await call.backend.repo_context(request), arguments.max_tokens)


def answer(reply: rpc.RepoContextReply, max_tokens: int) -> Answer:
    """Documents by section, cut to the budget."""
    documents = quotes.fit_documents(reply.documents, chars(max_tokens))
    left_out = reply.left_out + len(reply.documents) - len(documents)
    structured: dict[str, Any] = {
        "repo": reply.repo,
        "documents": [document.model_dump(mode="json") for document in documents],
        "missing": [section.value for section in reply.missing],
        "left_out": left_out,
        "receipt": present.receipt_json(reply.receipt),
    }
    blocks = [
        "\n\n".join([f"## {section.value}", *map(quotes.block, some)])
        for section, some in groupby(documents, key=lambda document: document.section)
    ]
    foot = [present.receipt_line(reply.receipt)]
    if reply.missing:
        foot.insert(0, f"no document is indexed for: {', '.join(structured['missing'])}")
    if documents != reply.documents:
        structured["truncated"] = True
        foot.append(f"note: cut to max_tokens={max_tokens}: raise it, ask for one section, or read_file.")
    if left_out:
        foot.append(f"note: {left_out} further documents: search_docs finds passages of them.")
    return Answer(structured, "\n\n".join([*blocks, "\n".join(foot)]))


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
