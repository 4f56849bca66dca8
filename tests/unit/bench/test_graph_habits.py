"""The form in which a line uses a name."""

import pytest

from bench.graph.habits import TYPE, Habit, habit
from bench.graph.truth import Use


@pytest.mark.parametrize(
    ("text", "kind", "meant", "found"),
    [
        ("from fares import rate", "imports", "function", Habit.IMPORT),
        ("class Ferry(rate):", "extends", TYPE, Habit.BASE),
        ("@rate", "references", "function", Habit.DECORATOR),
        ("#[rate(1)]", "references", "function", Habit.DECORATOR),
        ("    [rate(2)]", "references", TYPE, Habit.DECORATOR),
        ("ferry = rate()", "calls", TYPE, Habit.CONSTRUCTOR),
        ("var ferry = new rate(1);", "references", TYPE, Habit.CONSTRUCTOR),
        ("ferry := &rate{}", "references", TYPE, Habit.CONSTRUCTOR),
        ("def open(ferry: rate):", "references", TYPE, Habit.TYPE),
        ("self.rate(1)", "calls", "function", Habit.OWN),
        ("super().rate(1)", "calls", "function", Habit.OWN),
        ("$this->rate(1);", "calls", "function", Habit.OWN),
        ("make(1).rate(2)", "calls", "function", Habit.RESULT),
        ("ferries[0].rate(2)", "calls", "function", Habit.RESULT),
        ("    .rate(2)", "calls", "function", Habit.CHAIN),
        ("Ferry.rate(2)", "calls", "function", Habit.STATIC),
        ("fares::rate(2)", "calls", "function", Habit.STATIC),
        ("ferry.rate(2)", "calls", "function", Habit.VARIABLE),
        ("ferry->rate<int>(2)", "calls", "function", Habit.VARIABLE),
        ("price = rate(2)", "calls", "function", Habit.BARE),
        ("rates.map(ferry.rate)", "references", "function", Habit.MEMBER),
        ("map(rate, ferries)", "references", "function", Habit.VALUE),
        ("map(r, ferries)", "references", "function", Habit.ALIAS),
    ],
)
def test_a_line_has_its_habit(text, kind, meant, found) -> None:
    use = Use("main.py", 1, "rate", kind, (), outside=False)
    assert habit(use, meant, text) is found
