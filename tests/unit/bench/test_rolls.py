"""The comparison of indexes and the figures of bench.rolls."""

from typing import Any

from bench.rolls.changes import Change, Changes
from bench.rolls.faults import UNDISTURBED
from bench.rolls.play import Outcome
from bench.rolls.points import Points, comparable, compared
from bench.rolls.questions import OK, Answer, Answers
from bench.rolls.report import line, row

HERE, THERE = "11111111-aaaa", "22222222-bbbb"


def point(repo: str, text: str, **payload: Any) -> str:
    """Returns a point of a repository in the form that is compared."""
    return comparable(
        {"payload": {"scope": f"{repo}/base", "text": text, **payload}, "vector": {"fast": [0.5]}}, repo
    )


def test_the_same_files_in_two_repositories_are_equal() -> None:
    here = Points([point(HERE, "a", version=1, file="f1", generation="g1"), point(HERE, "b")])
    there = Points([point(THERE, "a", version=9, file="f2", generation="g2"), point(THERE, "b")])
    assert str(compared(here, there)) == "equal (2)"


def test_a_point_that_was_not_removed_is_unexpected() -> None:
    expected = Points([point(HERE, "a")])
    found = Points([point(HERE, "a", generation="old"), point(HERE, "a", generation="new")])
    difference = compared(found, expected)
    assert (difference.same, difference.missing, difference.unexpected) == (1, 0, 1)


def test_a_lost_point_is_missing() -> None:
    difference = compared(Points(), Points([point(HERE, "a")]))
    assert str(difference) == "1 missing, 0 unexpected of 1"


def test_a_row_counts_what_clients_noticed() -> None:
    answers = Answers([Answer(10.0, 0.1, OK), Answer(11.0, 15.0, "504 deadline_exceeded")])
    found = Change("r", "a.py", "word", ["503 draining"], accepted_at=12.0)
    changes = Changes([found, Change("r", "b.py", "other", ["503 draining"])], lost=[found])
    outcome = Outcome(UNDISTURBED, answers, changes, 10.0, 2.0, "complete", [], {})
    facts = row(outcome)
    assert (facts["questions"], facts["failed"], facts["changes"], facts["refused"]) == (2, 1, 1, 2)
    assert (facts["lost"], facts["last_failure_after_s"]) == (1, 16.0)
    assert "1 (1x 504 deadline_exceeded)" in line(facts)
