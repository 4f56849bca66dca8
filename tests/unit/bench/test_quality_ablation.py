import pytest

from bench.quality.ablation import (
    Answer,
    Candidate,
    by_leg,
    finders,
    is_reproduced,
    legs_of,
    ranked,
    signals_of,
)
from bench.quality.page import comparison, page
from bench.quality.questions import Corpus, Question, Target
from bench.quality.score import Place

QUESTION = Question(
    Corpus(name="shop", language="python"), "who pays", "semantic", (Target("a.py"), Target("z.py"))
)


def candidate(path: str, legs: dict[str, int] | None = None, **signals: float) -> Candidate:
    return Candidate(Place(path, 1, 9), signals, legs or {})


CANDIDATES = (
    candidate("a.py", {"keyword": 2}, body=0.6, name=0.1),
    candidate("b.py", {"keyword": 1, "vector": 2}, body=0.2, name=0.3),
    candidate("c.py", {"vector": 1}, body=0.2, name=0.4, tests=-0.5),
)


def paths(places: list[Place]) -> list[str]:
    return [place.path for place in places]


def answer(*served: str) -> Answer:
    return Answer(QUESTION, tuple(Place(path, 1, 9) for path in served), "high", CANDIDATES)


def test_candidates_are_ranked_by_the_sum_of_their_signals() -> None:
    assert paths(ranked(CANDIDATES)) == ["a.py", "b.py", "c.py"]


@pytest.mark.parametrize(
    ("signal", "order"),
    [
        ("body", ["b.py", "a.py", "c.py"]),
        ("tests", ["a.py", "c.py", "b.py"]),
        ("other", ["a.py", "b.py", "c.py"]),
    ],
)
def test_a_signal_is_left_out_of_every_sum(signal, order) -> None:
    assert paths(ranked(CANDIDATES, signal)) == order


def test_equal_sums_are_ordered_by_path() -> None:
    assert paths(ranked([candidate("b", one=0.5), candidate("a", other=0.5)])) == ["a", "b"]


def test_single_leg_keeps_its_own_order() -> None:
    assert paths(by_leg(CANDIDATES, "keyword")) == ["b.py", "a.py"]
    assert paths(by_leg(CANDIDATES, "vector")) == ["c.py", "b.py"]
    assert by_leg(CANDIDATES, "exact") == []


def test_each_target_knows_the_legs_that_found_it() -> None:
    assert list(finders(answer())) == [{"keyword"}, set()]


def test_an_order_that_differs_from_the_sums_is_detected() -> None:
    assert is_reproduced(answer("a.py", "b.py"))
    assert is_reproduced(answer("a.py", "b.py", "c.py", "a.py"))  # more lines of the best file
    assert not is_reproduced(answer("b.py", "a.py"))
    assert not is_reproduced(answer("b.py"))


def test_signals_and_legs_are_those_that_occur() -> None:
    assert signals_of([answer()]) == ["body", "name", "tests"]
    assert legs_of([answer()]) == ["keyword", "vector"]


def test_page_has_the_gain_of_each_part() -> None:
    text = page([answer("a.py", "b.py", "c.py")])
    assert "| all | 1 | 1 | 0.613 | 0.613 to 0.613 | 0.613 |" in text
    assert "| keyword | 1 | 0.387 | 50.0 % | 50.0 % |" in text
    assert "| body | +0.2263 | +0.2263 to +0.2263 | +0.2263 | 1 | 0 |" in text
    assert "| tests | +0.0000 | +0.0000 to +0.0000 | +0.0000 | 0 | 0 |" in text
    assert "the served order for 1 of 1" in text
    assert "| high | 1 | 100.0 % | 100.0 % |" in text


def test_comparison_shows_the_gain() -> None:
    assert "| all | 1 | 1 | +0.250 | +0.250 to +0.250 | +0.250 |" in comparison(
        {QUESTION: 0.75}, {QUESTION: 0.5}
    )


def test_zero_difference_has_no_sign() -> None:
    assert "| all | 1 | 1 | +0.000 |" in comparison({QUESTION: 0.5}, {QUESTION: 0.5 + 1e-9})
