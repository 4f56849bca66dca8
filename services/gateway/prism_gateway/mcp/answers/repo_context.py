"""The documents of a repository by section, cut to the budget."""

from itertools import groupby

from prism_contracts.rpc.guidance import RepoContextReply
from prism_gateway.budget import chars
from prism_gateway.mcp.answers import quotes
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json


def answer(reply: RepoContextReply, max_tokens: int) -> Answer:
    """Returns documents by section, cut to the budget."""
    documents = quotes.fit_documents(reply.documents, chars(max_tokens))
    left_out = reply.left_out + len(reply.documents) - len(documents)
    structured: Json = {
        "repo": reply.repo,
        "documents": [document.model_dump(mode="json") for document in documents],
        "missing": [section.value for section in reply.missing],
        "left_out": left_out,
        "receipt": receipt_json(reply.receipt),
    }
    blocks = [
        "\n\n".join([f"## {section.value}", *map(quotes.block, some)])
        for section, some in groupby(documents, key=lambda document: document.section)
    ]
    foot = [receipt_line(reply.receipt)]
    if reply.missing:
        foot.insert(0, f"no indexed document for: {', '.join(structured['missing'])}")
    if documents != reply.documents:
        structured["truncated"] = True
        foot.append(f"note: cut to max_tokens={max_tokens}: raise it, ask for one section, or use read_file.")
    if left_out:
        foot.append(f"note: {left_out} further documents: search_docs searches them.")
    return Answer(structured, "\n\n".join([*blocks, "\n".join(foot)]))
