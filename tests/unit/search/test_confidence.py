"""Tests what the confidence of an answer depends on."""

import pytest

from prism_search.core.confidence import confidence, likelihood, rate
from prism_search.core.outline import Outline
from prism_search.core.passages import Range
from prism_search.core.query import parse_query
from prism_search.core.retrieval.candidates import Candidate


def hit(
    path: str, score: float, *, body: float = 0.2, keyword: int = 0, defines: str = ""
) -> tuple[Candidate, Range]:
    outline = Outline(f"F\tfunction\t1\t9\t{defines}" if defines else "")
    file = Candidate(path, "r", path, "g", outline=outline, score=score, signals={"body": body})
    file.legs = {"keyword": keyword} if keyword else {}
    return file, Range(1, 9, defines)


def level(text: str, *shown: tuple[Candidate, Range]) -> str:
    return confidence(parse_query(text), shown)


QUESTION = "how parcels are weighed"


def test_no_hit_has_no_confidence() -> None:
    assert level(QUESTION) == "none"


@pytest.mark.parametrize(
    ("best", "next_score", "expected"),
    [
        (hit("a.py", 2.0, body=0.5, keyword=1), 1.2, "high"),
        (hit("a.py", 2.0, body=0.5, keyword=2), 1.2, "medium"),  # another file has more of the words
        (hit("a.py", 2.0, body=0.5, keyword=1), 1.9, "medium"),
        (hit("a.py", 2.0, body=0.1, keyword=3), 1.9, "low"),
    ],
)
def test_lead_words_and_legs_decide(best, next_score, expected) -> None:
    assert level(QUESTION, best, hit("b.py", next_score)) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("weigh", "", "high"), ("weigh", "weigh", "medium"), ("", "weigh", "low"), ("", "", "medium")],
)
def test_a_name_is_answered_by_the_only_file_that_defines_it(first, second, expected) -> None:
    shown = [hit("a.py", 2.0, body=0.9, keyword=1, defines=first), hit("b.py", 0.1, defines=second)]
    assert level("weigh", *shown) == expected


def test_scores_are_shares_that_fall() -> None:
    shown = [hit("a.py", 2.0, keyword=2), hit("b.py", 1.5, keyword=1, body=0.9), hit("c.py", 0.1)]
    rate(shown)
    first, second, third = (file.likelihood for file, _ in shown)
    assert 1 > first >= second >= third > 0


def test_a_greater_lead_is_never_less_likely() -> None:
    file, _ = hit("a.py", 1.0)
    chances = [likelihood(file, lead / 10) for lead in range(-15, 16)]
    assert chances == sorted(chances)
