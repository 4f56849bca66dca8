"""Reads and writes the cursors of pages of hits."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import SearchRequest
from prism_runtime.cursors import read_cursor, write_cursor
from prism_search.core.answer_key import digest_of, normalized_request
from prism_search.core.query import Query

# These fields change what a page shows, not which hits there are.
PAGE_FIELDS = {"cursor", "limit", "detail", "include_file_context", "explain"}
STATE_CHARS = 16  # of a digest


class HitPage(NamedTuple):
    """Positions of hits in the ranking, from 0; `end` is exclusive."""

    begin: int
    end: int


def read_page(request: SearchRequest, query: Query, state: Sequence[str]) -> HitPage:
    """Returns the requested page. Raises INVALID_CURSOR, also if the index has changed.

    A position in another ranking would repeat hits and leave out others.
    """
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
    """Returns the cursor of the next page. It is cached with the answer, as both depend on the same state."""
    return write_cursor(_question(request, query), _seen(state), page.end)


def _question(request: SearchRequest, query: Query) -> str:
    return normalized_request(request, query).model_dump_json(exclude=PAGE_FIELDS)


def _seen(state: Sequence[str]) -> str:
    return digest_of(state)[:STATE_CHARS]
