"""Tests which matches are in code, comments or strings."""

import pytest

from prism_contracts.rpc.search import Only
from prism_search.core.lines import matching_lines
from prism_search.core.match_places import MatchPlaces
from prism_search.core.patterns import compile_pattern

TEXT = '''rate = 1  # the rate
x = "rate"  # price
"""The rate
of it.
"""
y = get("rate", rate)
z = f"{rate}"
'''


def lines(pattern: str, only: Only | None, language: str = "python", text: str = TEXT) -> list[int]:
    compiled = compile_pattern(pattern, regex=True, case_sensitive=True, word=False)
    places = MatchPlaces(text, language, only)
    parts = matching_lines(text, compiled, lambda *_: False, lines_max=99, counts=places.count)
    return [line.number for part in parts for line in part.found]


@pytest.mark.parametrize(
    ("pattern", "only", "expected"),
    [
        ("rate", None, [1, 2, 3, 6, 7]),
        ("rate", Only.TESTS, [1, 2, 3, 6, 7]),
        ("rate", Only.CODE, [1, 6, 7]),
        ("rate", Only.COMMENTS, [1]),
        ("rate", Only.STRINGS, [2, 3, 6]),
        ("price", Only.CODE, []),
        (r'get\("rate"', Only.CODE, [6]),
        (r"get\(.*\)", Only.CODE, [6]),
        (r"of it\.", Only.STRINGS, [4]),
        ("the rate$", Only.COMMENTS, [1]),
    ],
)
def test_a_match_counts_where_it_is_wanted(pattern, only, expected) -> None:
    assert lines(pattern, only) == expected


def test_everything_is_code_in_a_language_without_rules() -> None:
    text = "# rate\n"
    assert lines("rate", Only.CODE, "unknown", text) == [1]
    assert lines("rate", Only.COMMENTS, "unknown", text) == []


def test_comments_of_several_lines_are_comments() -> None:
    text = "go(1); /* first\n rate */ go(rate);\n// rate\n"
    assert lines("rate", Only.COMMENTS, "javascript", text) == [2, 3]
    assert lines("rate", Only.CODE, "javascript", text) == [2]


def test_lines_that_do_not_count_leave_room_for_others() -> None:
    compiled = compile_pattern("rate", regex=True, case_sensitive=True, word=False)
    places = MatchPlaces(TEXT, "python", Only.STRINGS)
    parts = list(matching_lines(TEXT, compiled, lambda *_: False, lines_max=2, counts=places.count))
    assert [line.number for part in parts for line in part.found] == [2, 3]
