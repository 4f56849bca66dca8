"""What the first answers of agents name."""

import json
from pathlib import Path

import pytest

from bench.agents.arms import State
from bench.agents.ask import Call
from bench.agents.questions import Kind, Place, Question
from bench.agents.replay import firsts, named, table

SELL = Place(path="shop/a.py", start=12, end=19, symbol="Shop.sell")
PAY = Place(path="b.py", start=5, end=6, symbol="pay")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("shop/a.py:12-19 Shop.sell", {SELL}),
        ("shop/a.py:14: pay()\nb.py:5: def pay", {SELL, PAY}),
        ("  shop/a.py\n    Shop.sell (12-19) 14: pay()\n  b.py\n    pay (5-6)", {SELL, PAY}),
        ("shop/a.py: depth 1: sell 12-19", {SELL}),
        ("shop/a.py\n  13: pay()\n\nshop/c.py:1-4 other\n  14: x = 5", {SELL}),
        ("./b.py:6:    return 1", {PAY}),
        # A comment that counts to the function, and a class around it.
        ("shop/a.py:4-19 Shop.sell", {SELL}),
        ("shop/a.py:1-90 Shop", set()),
        ("shop/a.py: 20-24 Shop.close", set()),
        ("sell is called 14 times, see shop/a.py", set()),
        ("other/b.py:5-6 pay", set()),
    ],
)
def test_a_place_is_named_by_a_line_or_range_under_its_path(text: str, found: set[Place]) -> None:
    assert named(text, [SELL, PAY]) == found


def test_the_first_call_of_each_question_is_asked_again(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "b.py").write_text("\n" * 4 + "def pay():\n    return 1\n")
    question = Question(
        id="q-1",
        repo="app",
        repository="acme/app",
        revision="",
        language="python",
        kind=Kind.FIND,
        split="dev",
        question="What pays?",
        truth=(PAY, SELL),
    )
    calls = [("help", ()), ("read", ("b.py", "5", "6")), ("ls", ())]
    log = [
        Call(arm="rg", question="q-1", verb=verb, words=words, chars=1, ms=1)
        for verb, words in (*calls, ("read", ("b.py", "1", "2")))
    ]
    state = State(repos=str(tmp_path), questions="", log="")
    unknown = question.model_copy(update={"id": "q-2"})
    nothing = question.model_copy(update={"id": "q-3", "truth": ()})
    found = firsts(state, [question, unknown, nothing], log, "rg")
    assert [(one.question.id, one.missing) for one in found] == [("q-1", (SELL,))]
    assert "| rg | 1 | 0 (0%) | 0.500 | 7 | 7 |" in table({"rg": found}), json.dumps(found, default=str)
