"""Pages of hits: which of the ranked hits a request asks for, and the cursor of those behind them."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import SearchRequest
from prism_runtime.cursors import read_cursor, write_cursor
from prism_search.core.answer_key import as_understood, digest_of
from prism_search.core.query import Query

# They change what a page shows, and not which hits there are.
PAGE_FIELDS = {"cursor", "limit", "detail", "include_file_context", "explain"}
STATE_CHARS = 16  # of a digest


class HitPage(NamedTuple):
    """Positions of hits in the ranking, from 0; `end` is behind the last one."""

    begin: int
    end: int


def read_page(request: SearchRequest, query: Query, state: Sequence[str]) -> HitPage:
    """Raises INVALID_CURSOR, also if what is seen has changed: a position in another ranking would repeat and leave out hits."""
    if not request.cursor:
        return HitPage(0, request.limit)
    seen, begin = read_cursor(_question(request, query), request.cursor, (str, int))
    if seen != _seen(state):
        raise PrismError(
            ErrorCode.INVALID_CURSOR,
            "The index has changed since the cursor was issued, or the cursor belongs to another repository or ref.",
            "Call again without a cursor.",
        )
    return HitPage(int(begin), int(begin) + request.limit)


def next_cursor(request: SearchRequest, query: Query, page: HitPage, state: Sequence[str]) -> str:
    """The cursor of the next page. An answer that is kept has it: it holds wherever the answer's key does."""
    return write_cursor(_question(request, query), _seen(state), page.end)


def _question(request: SearchRequest, query: Query) -> str:
    return as_understood(request, query).model_dump_json(exclude=PAGE_FIELDS)


def _seen(state: Sequence[str]) -> str:
    return digest_of(state)[:STATE_CHARS]
