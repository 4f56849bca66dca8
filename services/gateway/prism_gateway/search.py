"""Search within a token budget, for MCP and REST."""

import sys

from prism_contracts.rpc.search import SEARCH, Detail, Hit, SearchReply, SearchRequest
from prism_gateway.backend import Backend
from prism_gateway.budget import chars, cut, fit

NO_LIMIT = sys.maxsize
CONTENT_FLOOR_CHARS = 400
# Lines of the first and the second hit with `detail=top`, and the lines that a note about the rest takes.
TOP_LINES = (40, 6)
NOTE_LINES = 1
# The cost of a hit without its text, in characters: braces, field names, numbers.
HIT_CHARS = 60


async def search(
    backend: Backend, request: SearchRequest, max_tokens: int, passage_chars_max: int = NO_LIMIT
) -> SearchReply:
    """Returns hits within the budget.

    Lines are shortened before hits are dropped; `passage_chars_max` caps each hit.
    """
    reply = await _ask(backend, request)
    fitting = shorten(reply, max_tokens, passage_chars_max)
    kept = len(fitting.results)
    if kept == len(reply.results):
        return fitting
    # Repeat the search with this limit, so that the cursor continues right after the last hit shown.
    reply = await _ask(backend, request.model_copy(update={"limit": kept}))
    return shorten(reply, max_tokens, passage_chars_max).model_copy(update={"truncated": True})


async def _ask(backend: Backend, request: SearchRequest) -> SearchReply:
    reply = await backend.ask(SEARCH, request)
    return with_top_lines(reply) if request.detail is Detail.TOP else reply


def with_top_lines(reply: SearchReply) -> SearchReply:
    """Returns the reply with the first lines of the symbols of the first hits, and no lines of the others."""
    lines_max = (*TOP_LINES, *[0] * len(reply.results))
    own = map(_within_symbol, reply.results)
    results = [
        hit.model_copy(update={"content": first_lines(hit.content, lines, hit.start_line)})
        for hit, lines in zip(own, lines_max, strict=False)
    ]
    return reply.model_copy(update={"results": tuple(results)})


def _within_symbol(hit: Hit) -> Hit:
    """Returns a hit with the lines of its symbol only: a chunk may begin with the symbol before."""
    start, end = max(hit.start_line, hit.symbol_start), min(hit.end_line, hit.symbol_end or hit.end_line)
    if (start, end) == (hit.start_line, hit.end_line):
        return hit
    lines = hit.content.split("\n")[start - hit.start_line : end - hit.start_line + 1]
    return hit.model_copy(update={"start_line": start, "end_line": end, "content": "\n".join(lines)})


def first_lines(content: str, lines_max: int, start_line: int) -> str:
    """Returns the first lines, with a note on where to read on if some are left out."""
    lines = content.split("\n")
    if len(lines) <= lines_max + NOTE_LINES or not content:
        return content
    left_out = len(lines) - lines_max
    return "\n".join([*lines[:lines_max], _more_lines(left_out, start_line + lines_max)])


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
    return f"{head}\n{_more_lines(missing, start_line + head.count(chr(10)) + 1)}"


def _more_lines(left_out: int, next_line: int) -> str:
    return f"… {left_out} more lines: read_file from line {next_line}"


def _overhead(hit: Hit) -> int:
    context = hit.file_context.definitions if hit.file_context else ()
    return HIT_CHARS + len(hit.repo) + len(hit.file_path) + len(hit.symbol) + sum(map(len, context))
