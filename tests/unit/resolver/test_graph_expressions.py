"""The expression before a dot, split into steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_resolver.expressions import CALL, steps_of


def spelled(expression: str) -> list[str]:
    return ["()" if step == CALL else step.name for step in steps_of(expression)]


@pytest.mark.parametrize(
    ("expression", "steps"),
    [
        ("depot", ["depot"]),
        ("self.depot", ["self", "depot"]),
        ("self.depot.open(1, f(2))", ["self", "depot", "open", "()"]),
        ("super()", ["super", "()"]),
        ("new Depot(gate)", ["Depot", "()"]),
        ("newDepot.gate", ["newDepot", "gate"]),
        ("new(Depot)", ["Depot"]),
        ("await(depot)", ["depot"]),
        ("returned.open()", ["returned", "open", "()"]),
        ("(&Depot{gate: open})", ["Depot", "()"]),
        ("Depot{}.gate", ["Depot", "()", "gate"]),
        ("(await open_depot())", ["open_depot", "()"]),
        ("this.depot?.gate", ["this", "depot", "gate"]),
        ("this.depot!.gate", ["this", "depot", "gate"]),
        ("&depot", ["depot"]),
        ("crate::depot::Depot", ["crate", "depot", "Depot"]),
        ("Vec::<u8>::new()", ["Vec", "new", "()"]),
        ("Box<Depot>", ["Box"]),
        ("depot->gate", ["depot", "gate"]),
        ("$this->gate", ["$this", "gate"]),
        ("@depot", ["@depot"]),
        ("Acme\\Depot", ["Acme", "Depot"]),
        ("make()()", ["make", "()", "()"]),
        ("depots[0].gate", []),
        ("a + b", []),
        ("'text'.join", []),
        ("f(", []),
        ("f(')').x", []),
        ("depot.", []),
        ("", []),
    ],
)
def test_expressions_are_split_into_steps(expression: str, steps: list[str]) -> None:
    assert spelled(expression) == steps


@given(st.text(alphabet="ab.()<>[]{}:'\" @$&*!?-", max_size=40))
def test_any_text_is_parsed_or_ignored(text: str) -> None:
    assert all(step == CALL or step.name for step in steps_of(text))


def test_unclosed_brackets_take_linear_time() -> None:
    assert steps_of("(" * 3_000) == ()
    assert steps_of("(" * 3_000 + ")" * 3_000) == ()
