"""Search within a token budget, for MCP and REST."""

import sys

from prism_contracts.rpc.search import SEARCH, Hit, SearchReply, SearchRequest
from prism_gateway.backend import Backend
from prism_gateway.budget import chars, cut, fit

NO_LIMIT = sys.maxsize
CONTENT_FLOOR_CHARS = 400
# How a note after a text that is cut begins.
MORE_LINES = "… "
# The cost of a hit without its text, in characters: braces, field names, numbers.
HIT_CHARS = 60


async def search(
    backend: Backend, request: SearchRequest, max_tokens: int, passage_chars_max: int = NO_LIMIT
) -> SearchReply:
    """Returns hits within the budget.

    Lines are shortened before hits are dropped; `passage_chars_max` caps each hit.
    """
    reply = await backend.ask(SEARCH, request)
    fitting = shorten(reply, max_tokens, passage_chars_max)
    kept = len(fitting.results)
    if kept == len(reply.results):
        return fitting
    # Repeat the search with this limit, so that the cursor continues right after the last hit shown.
    reply = await backend.ask(SEARCH, request.model_copy(update={"limit": kept}))
    return shorten(reply, max_tokens, passage_chars_max).model_copy(update={"truncated": True})


def shorten(reply: SearchReply, max_tokens: int, passage_chars_max: int = NO_LIMIT) -> SearchReply:
    """Returns the reply cut to the budget, with at least one hit."""
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
    """Returns the beginning of the lines, with a note on where to read on if some are left out."""
    head, missing = cut(content, chars_max)
    if head == content:
        return content
    if not missing:
        return f"{head}…"
    return f"{head}\n{more_lines(missing, start_line + head.count(chr(10)) + 1)}"


def more_lines(left_out: int, next_line: int) -> str:
    """Returns the note after a text that is cut."""
    return f"{MORE_LINES}{left_out} more lines: read_file from line {next_line}"


def _overhead(hit: Hit) -> int:
    context = hit.file_context.definitions if hit.file_context else ()
    lines = (
        sum(len(line.text) for line in (*hit.lines, *hit.beside_lines))
        + len(hit.signature)
        + sum(map(len, hit.matched))
    )
    return HIT_CHARS + len(hit.repo) + len(hit.file_path) + len(hit.symbol) + sum(map(len, context)) + lines
