"""Wikis as text: the table of contents with its state, or one page cut to the budget."""

from collections.abc import Iterator

from prism_contracts.rpc.wiki import WikiHit, WikiPageReply, WikiPageSummary, WikiReply
from prism_gateway.budget import chars, cut, fit
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line, short_commit
from prism_gateway.mcp.tool import Answer, Json

# The cost of a page in the table of contents, in text and data, in characters.
PAGE_CHARS = 400
# The cost of a section that was found, without its excerpt.
HIT_CHARS = 300
STALE = "older than the index: generate_wiki renews it"


def contents(reply: WikiReply, max_tokens: int, query: str = "") -> Answer:
    """Returns the pages in reading order, and what failed; for a query, the sections that match."""
    if reply.hits:
        return _found(reply, max_tokens)
    kept = fit([0] * len(reply.pages), [PAGE_CHARS] * len(reply.pages), chars(max_tokens), 0).kept
    shown = reply.pages[:kept]
    structured: Json = {
        **reply.model_dump(mode="json", exclude={"receipt", "pages"}),
        "pages": [page.model_dump(mode="json") for page in shown],
        "receipt": receipt_json(reply.receipt),
    }
    written = sum(page.written_at is not None for page in reply.pages)
    head = f"wiki of {reply.repo}@{short_commit(reply.commit)}: {reply.state}, {written} of {len(reply.pages)} pages"
    foot = [*_notes(reply), receipt_line(reply.receipt)]
    if query:
        foot.insert(0, "note: no section has a word of the query.")
    if len(shown) < len(reply.pages):
        structured["truncated"] = True
        foot.insert(0, f"note: cut to max_tokens={max_tokens}: raise it.")
    return Answer(structured, "\n".join([head, *map(_line, shown), "", *foot]))


def _found(reply: WikiReply, max_tokens: int) -> Answer:
    costs = [HIT_CHARS + 2 * len(hit.excerpt) for hit in reply.hits]
    kept = fit([0] * len(costs), costs, chars(max_tokens), 0).kept
    shown = reply.hits[:kept]
    structured: Json = {
        **reply.model_dump(mode="json", exclude={"receipt", "pages", "hits"}),
        "pages": [],
        "hits": [hit.model_dump(mode="json") for hit in shown],
        "receipt": receipt_json(reply.receipt),
    }
    foot = [*_notes(reply), receipt_line(reply.receipt)]
    if len(shown) < len(reply.hits):
        structured["truncated"] = True
        foot.insert(0, f"note: cut to max_tokens={max_tokens}: raise it.")
    texts = [line for hit in shown for line in _hit_lines(hit)]
    return Answer(structured, "\n".join([*texts, *foot]))


def _hit_lines(hit: WikiHit) -> list[str]:
    name = f"{hit.title}: {hit.heading}" if hit.heading and hit.heading != hit.title else hit.title
    return [f"{hit.key}:{hit.start_line} {name}", hit.excerpt, ""]


def page(reply: WikiPageReply, start_line: int, max_tokens: int) -> Answer:
    """Returns a page from a line on."""
    lines = reply.content.splitlines()
    wanted = "\n".join(lines[start_line - 1 :])
    content, _ = cut(wanted, chars(max_tokens))
    end_line = start_line - 1 + len(content.splitlines())
    structured: Json = {
        **reply.model_dump(mode="json", exclude={"receipt", "content"}),
        "content": content,
        "start_line": start_line,
        "end_line": end_line,
        "line_count": len(lines),
        "receipt": receipt_json(reply.receipt),
    }
    foot = [receipt_line(reply.receipt)]
    if not wanted:
        foot.insert(0, f"note: the page has {len(lines)} lines.")
    if end_line < len(lines) and wanted:
        structured["truncated"] = True
        foot.insert(
            0, f"note: cut to max_tokens={max_tokens}: raise it, or continue with start_line={end_line + 1}."
        )
    return Answer(structured, "\n".join([content, "", *foot]))


def _line(shown: WikiPageSummary) -> str:
    if shown.written_at is None:
        return f"{shown.key}: {shown.title} (not written yet)"
    return f"{shown.key}: {shown.title}{f' ({STALE})' if shown.is_stale else ''}"


def _notes(reply: WikiReply) -> Iterator[str]:
    for failed in reply.failed_pages:
        yield f"failed: {failed.key} after {failed.attempts} attempts: {failed.error}"
    if reply.error:
        yield f"failed: {reply.error}"
    if reply.state.is_under_way:
        yield "next: list_wiki_pages shows how far it is; if it has stopped, generate_wiki resumes it."
    elif reply.failed_pages:
        yield "next: generate_wiki tries the failed pages again."
    elif reply.error:
        yield "next: call generate_wiki again."
    elif reply.is_stale:
        yield f"note: {STALE}."
