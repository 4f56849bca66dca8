from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quality.questions import Corpus, Question, Target
from bench.quality.score import CUTOFF, Place, covers, differences, mean, ndcg


def files(*paths: str) -> list[Place]:
    return [Place(path, 1, 10) for path in paths]


def targets(*paths: str) -> list[Target]:
    return list(map(Target, paths))


def question(corpus: str, text: str) -> Question:
    return Question(Corpus(name=corpus, language="c"), text, "symbol", ())


@pytest.mark.parametrize(
    ("places", "wanted", "score"),
    [
        (files("a"), targets("a"), 1.0),
        (files("b", "a"), targets("a"), 1 / log2(3)),
        (files("b"), targets("a"), 0.0),
        (files(), targets("a"), 0.0),
        (files("a", "x", "b"), targets("a", "b"), (1 + 1 / log2(4)) / (1 + 1 / log2(3))),
        # A second place in a file wastes a rank, and gains nothing.
        (files("a", "a", "b"), targets("a", "b"), (1 + 1 / log2(4)) / (1 + 1 / log2(3))),
        # Two targets at one place are one gain.
        ([Place("a", 1, 9)], [Target("a", 1, 2), Target("a", 8, 9)], 1 / (1 + 1 / log2(3))),
    ],
)
def test_gains_are_discounted_by_rank(places, wanted, score) -> None:
    assert ndcg(places, wanted) == pytest.approx(score)


def test_the_tenth_place_counts_and_the_eleventh_does_not() -> None:
    others = files(*map(str, range(CUTOFF)))
    assert ndcg([*others[: CUTOFF - 1], *files("a")], targets("a")) == pytest.approx(1 / log2(CUTOFF + 1))
    assert ndcg([*others, *files("a")], targets("a")) == 0.0


def test_more_targets_than_places_can_all_be_met() -> None:
    names = [f"f{number}" for number in range(CUTOFF + 3)]
    assert ndcg(files(*names), targets(*names)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("place", "target", "covered"),
    [
        (Place("src/a.py", 1, 5), Target("a.py"), True),
        (Place("a.py", 1, 5), Target("src/a.py"), True),
        (Place("src/ba.py", 1, 5), Target("a.py"), False),
        (Place("a.py", 1, 5), Target("a.py", 5, 9), True),
        (Place("a.py", 1, 5), Target("a.py", 6, 9), False),
        (Place("a.py", 9, 12), Target("a.py", 6, 9), True),
        (Place("a.py", 10, 12), Target("a.py", 6, 9), False),
    ],
)
def test_place_covers_a_target_by_path_parts_and_lines(place, target, covered) -> None:
    assert covers(place, target) is covered


def test_corpora_have_equal_weight() -> None:
    scores = {question("one", "a"): 1.0, question("two", "a"): 0.0, question("two", "b"): 0.5}
    found = mean(scores)
    assert (found.questions, found.corpora) == (3, 2)
    assert found.by_corpus == pytest.approx((1 + 0.25) / 2)
    assert found.by_question == pytest.approx(0.5)


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=5), min_size=1, max_size=4))
def test_interval_is_deterministic_and_within_the_extremes(corpora) -> None:
    scores = {
        question(f"c{corpus}", f"q{number}"): value
        for corpus, values in enumerate(corpora)
        for number, value in enumerate(values)
    }
    found = mean(scores)
    assert mean(scores) == found
    assert min(scores.values()) - 1e-9 <= found.low <= found.high <= max(scores.values()) + 1e-9


def test_the_interval_narrows_with_the_number_of_questions() -> None:
    def width(count: int) -> float:
        found = mean({question("one", str(number)): number % 2 for number in range(count)})
        return found.high - found.low

    # For n tosses of a fair coin, 95 % of the means are within 1.96 / sqrt(n).
    assert width(100) == pytest.approx(0.196, rel=0.1)
    assert width(400) == pytest.approx(0.098, rel=0.1)


def test_interval_includes_the_variance_between_corpora() -> None:
    alike = {question(f"c{number}", "q"): 0.5 for number in range(4)}
    unlike = {question(f"c{number}", "q"): number % 2 for number in range(4)}
    assert mean(alike).low == mean(alike).high == 0.5
    assert mean(unlike).low == 0.0
    assert mean(unlike).high == 1.0


def test_differences_are_of_questions_that_both_have() -> None:
    one, two, three = (question("c", name) for name in "abc")
    assert differences({one: 1.0, two: 0.5}, {two: 0.25, three: 1.0}) == {two: 0.25}
