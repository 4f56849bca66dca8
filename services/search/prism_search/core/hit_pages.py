"""Pages of hits: which of the ranked hits a request asks for, and the cursor of those behind them."""

from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc import SearchRequest
from prism_runtime.cursors import read_cursor, write_cursor

# They change what a page shows, and not which hits there are.
PAGE_FIELDS = {"cursor", "limit", "detail", "include_file_context", "explain"}


class HitPage(NamedTuple):
    """Positions of hits in the ranking, from 0; `end` is behind the last one."""

    begin: int
    end: int


def read_page(request: SearchRequest, corpus_version: int) -> HitPage:
    """Raises INVALID_CURSOR, also if the index has changed: a position in another ranking would repeat and leave out hits."""
    if not request.cursor:
        return HitPage(0, request.limit)
    version, begin = read_cursor(_question(request), request.cursor, (int, int))
    if version != corpus_version:
        raise PrismError(
            ErrorCode.INVALID_CURSOR,
            "The index has changed since the cursor was given.",
            "Call again without a cursor.",
        )
    return HitPage(int(begin), int(begin) + request.limit)


def next_cursor(request: SearchRequest, page: HitPage, corpus_version: int) -> str:
    """The cursor of the next page."""
    return write_cursor(_question(request), corpus_version, page.end)


def _question(request: SearchRequest) -> str:
    return request.model_dump_json(exclude=PAGE_FIELDS)
