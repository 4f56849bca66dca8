"""Questions of search_code about one symbol."""

import pytest

from prism_gateway.mcp.graph_first import Asked, GraphQuestion, read_question


@pytest.mark.parametrize(
    ("query", "asked", "symbol"),
    [
        ("who calls find_route", Asked.CALLERS, "find_route"),
        ("Who uses `Session.get`?", Asked.CALLERS, "Session.get"),
        ("callers of Router::route()", Asked.CALLERS, "Router::route"),
        ("where is login used?", Asked.CALLERS, "login"),
        ("tests of parse_date", Asked.TESTS, "parse_date"),
        ("tests for Depot.weigh", Asked.TESTS, "Depot.weigh"),
        ("where is MAX_RETRIES defined", Asked.DEFINITION, "MAX_RETRIES"),
        ("definition of Session", Asked.DEFINITION, "Session"),
        ("who implements Store", Asked.SUBTYPES, "Store"),
        ("subclasses of BaseLoader", Asked.SUBTYPES, "BaseLoader"),
    ],
)
def test_questions_about_one_symbol_are_read(query: str, asked: Asked, symbol: str) -> None:
    assert read_question(query) == GraphQuestion(asked, symbol)


@pytest.mark.parametrize(
    "query",
    [
        "where are retries decided",
        "who calls the payment service",
        "find_route",
        "tests of the whole parser",
        "uses of",
    ],
)
def test_other_questions_are_left_to_the_search(query: str) -> None:
    assert read_question(query) is None
