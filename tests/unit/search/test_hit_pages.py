"""Tests pages of hits, their cursors and the context of their files."""

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import Detail, SearchRequest
from prism_search.core.file_context import DEFINITIONS_MAX, file_context
from prism_search.core.hit_pages import HitPage, next_cursor, read_page
from prism_search.core.outline import Outline
from prism_search.core.query import parse_query
from prism_search.core.retrieval.candidates import Candidate

STATE = ("r.6.7",)
ASKED = SearchRequest(tenant="t", query="glaze", limit=10)


def read(request: SearchRequest, state: tuple[str, ...] = STATE) -> HitPage:
    return read_page(request, parse_query(request.query), state)


CURSOR = next_cursor(ASKED, parse_query(ASKED.query), read(ASKED), STATE)


def at_cursor(**changes: object) -> SearchRequest:
    return ASKED.model_copy(update={"cursor": CURSOR, **changes})


def test_page_begins_where_the_previous_one_ended() -> None:
    assert read(ASKED) == HitPage(0, 10)
    assert read(at_cursor()) == HitPage(10, 20)


@pytest.mark.parametrize(
    "changes", [{"limit": 3}, {"detail": Detail.COMPACT}, {"include_file_context": True}, {"explain": True}]
)
def test_cursor_allows_other_limit_and_detail(changes) -> None:
    assert read(at_cursor(**changes)).begin == 10


@pytest.mark.parametrize("changes", [{"query": " glaze\n"}, {"repo": "acme/kiln"}, {"ref": "main"}])
def test_cursor_allows_other_spellings(changes) -> None:
    """Cached answers return the same cursor for all spellings."""
    assert read(at_cursor(**changes)).begin == 10


@pytest.mark.parametrize(
    "changes",
    [{"query": "kiln"}, {"tenant": "other"}, {"language": "go"}, {"source_only": True},
     {"cursor": "forged"}],
)  # fmt: skip
def test_cursor_of_another_question_is_refused(changes) -> None:
    with pytest.raises(PrismError) as caught:
        read(at_cursor(**changes))
    assert caught.value.code is ErrorCode.INVALID_CURSOR


@pytest.mark.parametrize("state", [("r.7.8",), ("other.6.7",), (*STATE, "t.r.topic.7")])
def test_cursor_of_another_index_is_refused(state) -> None:
    with pytest.raises(PrismError, match="index has changed") as caught:
        read(at_cursor(), state)
    assert caught.value.code is ErrorCode.INVALID_CURSOR


@pytest.mark.parametrize("more", [0, 1])
def test_file_context_lists_limited_definitions(more) -> None:
    packed = [f"F\tfunction\t{n}\t{n}\tf{n}" for n in range(1, DEFINITIONS_MAX + more + 1)]
    file = Candidate(
        "f", "r", "a.py", "g", lines=99, outline=Outline("\n".join([*packed, "V\tvariable\t1\t1\tv"]))
    )
    context = file_context(file)
    assert (context.lines, context.definitions_left_out) == (99, more)
    assert context.definitions[0] == "1-1 function f1"
    assert len(context.definitions) == DEFINITIONS_MAX
