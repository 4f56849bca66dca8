"""Search within a budget of tokens, the same over MCP and REST."""

import sys

from prism_contracts.rpc.search import SEARCH, Hit, SearchReply, SearchRequest
from prism_gateway.backend import Backend
from prism_gateway.budget import chars, cut, fit

NO_LIMIT = sys.maxsize
CONTENT_FLOOR_CHARS = 400
# What a hit costs beside its text, in characters: braces, names of fields, numbers.
HIT_CHARS = 60


async def search(
    backend: Backend, request: SearchRequest, max_tokens: int, passage_chars_max: int = NO_LIMIT
) -> SearchReply:
    """Hits for a question. Their lines are shortened before a hit is left out, and are never longer than a passage may be."""
    reply = await backend.ask(SEARCH, request)
    fitting = shorten(reply, max_tokens, passage_chars_max)
    kept = len(fitting.results)
    if kept == len(reply.results):
        return fitting
    # Ask again for what fits: only then does the cursor go on right behind it.
    reply = await backend.ask(SEARCH, request.model_copy(update={"limit": kept}))
    return shorten(reply, max_tokens, passage_chars_max).model_copy(update={"truncated": True})


def shorten(reply: SearchReply, max_tokens: int, passage_chars_max: int = NO_LIMIT) -> SearchReply:
    """The reply cut to the budget; at least one hit stays."""
    wanted = [min(len(hit.content), passage_chars_max) for hit in reply.results]
    overheads = [_overhead(hit) for hit in reply.results]
    fits = fit(wanted, overheads, chars(max_tokens), CONTENT_FLOOR_CHARS)
    room = min(fits.text_chars_max, passage_chars_max)
    results = tuple(
        hit.model_copy(update={"content": shorten_lines(hit.content, room, hit.start_line)})
        for hit in reply.results[: fits.kept]
    )
    truncated = fits.kept < len(wanted) or any(length > fits.text_chars_max for length in wanted[: fits.kept])
    return reply.model_copy(update={"results": results, "truncated": truncated})


def shorten_lines(content: str, chars_max: int, start_line: int) -> str:
    """The head of some lines, and where to read on if any is left out."""
    head, missing = cut(content, chars_max)
    if head == content:
        return content
    if not missing:
        return f"{head}…"
    return f"{head}\n… {missing} more lines: read_file from line {start_line + head.count(chr(10)) + 1}"


def _overhead(hit: Hit) -> int:
    context = hit.file_context.definitions if hit.file_context else ()
    return HIT_CHARS + len(hit.repo) + len(hit.file_path) + len(hit.symbol) + sum(map(len, context))
