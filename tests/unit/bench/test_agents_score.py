"""Scores and tables of the benchmark of agents."""

import pytest

from bench.agents.arms import State, last_event, run
from bench.agents.ask import Call
from bench.agents.explorer import places
from bench.agents.questions import Kind, Place, Question, brief, load
from bench.agents.report import costs, table
from bench.agents.score import read_answers, scores


def question(**fields: object) -> Question:
    known = {
        "id": "q-1",
        "repo": "app",
        "repository": "acme/app",
        "revision": "",
        "language": "python",
        "kind": Kind.CALLERS,
        "split": "dev",
        "question": "Who calls `pay`?",
        "truth": (Place(path="a.py", start=1, end=9, symbol="Shop.sell"), Place(path="b.py", start=5, end=6)),
    }
    return Question.model_validate(known | fields)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("q-1\ta.py:1-9 Shop.sell\nq-1\tb.py:5-6 x", 1.0),
        ("q-1\ta.py:3 Shop.sell", 0.5),
        ("q-1\ta.py:1-9 Shop.sell\nq-1\tb.py:5-6 x\nq-1\tc.py:1-2 y", 2 / 3),
        ("q-1\ta.py:1-9 Shop.sell\nq-1\tb.py:5-6 x\nq-1\td.py:1-2 z", 1.0),
        ("q-2\ta.py:1-9 Shop.sell", 0.0),
        ("I think it is a.py", 0.0),
    ],
)
def test_score_is_recall_times_precision(answer: str, score: float) -> None:
    asked = question(acceptable=(Place(path="d.py", start=1, end=2),))
    assert scores([asked], read_answers(answer)) == {"q-1": pytest.approx(score)}


@pytest.mark.parametrize(
    ("answer", "score"), [("q-1\tno", 1.0), ("q-1\tYes.", 0.0), ("q-1\ta.py:1-2 x", 0.0)]
)
def test_a_question_about_existence_needs_the_verdict(answer: str, score: float) -> None:
    assert scores([question(kind=Kind.EXISTS, truth=(), verdict="no")], read_answers(answer)) == {
        "q-1": score
    }


def test_costs_leave_out_the_list_of_tools() -> None:
    log = [
        Call(arm="prism", question="q-1", verb=verb, words=(), chars=chars, ms=1)
        for verb, chars in (("tools", 4_000), ("call", 400), ("call", 80))
    ]
    found = costs([question()], {"q-1": 1.0}, log, "prism")["q-1"]
    assert (found.score, found.calls, found.tokens) == (1.0, 2, 120.0)


def test_table_has_a_row_per_arm_and_kind_and_the_ratio() -> None:
    log = [
        Call(arm=arm, question="q-1", verb="call", words=(), chars=chars, ms=1)
        for arm, chars in (("prism", 400), ("rg", 800), ("rg", 800))
    ]
    asked = [question()]
    text = table(asked, {arm: costs(asked, {"q-1": 1.0}, log, arm) for arm in ("prism", "rg")})
    assert "| prism | 1 | 1.000 | 1.00 | 100 | 100 | 1 |" in text
    assert "| prism | 0.50 | 0.50 to 0.50 | 0.25 | 0.25 to 0.25 | 0.25 |" in text
    assert "| callers | 1 | 1.0 / 100 | 2.0 / 400 |" in text


def test_read_stays_inside_the_repository(tmp_path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "app" / "a.py").write_text("one\ntwo\nthree\n")
    state = State(repos=str(tmp_path), questions="", log="")
    assert run(state, "rg", "app", "read", ["a.py", "2", "3"]) == "2: two\n3: three"
    assert "secret" not in run(state, "rg", "app", "read", ["../secret.txt", "1", "9"])
    assert "secret" not in run(state, "rg", "app", "read", [str(tmp_path / "secret.txt"), "1", "9"])
    assert run(state, "rg", "app", "ls", []) == "a.py"
    assert run(state, "rg", "app", "write", []).startswith("verbs: rg")


def test_answers_may_contain_what_looks_like_an_event() -> None:
    answer = '{"text": "f(data: str)\u2028data: x"}'
    assert last_event(f"event: message\ndata: {{}}\n\ndata: {answer}\n\n") == answer
    assert last_event(answer) == answer


def test_pattern_may_be_longer_than_a_name_of_a_file(tmp_path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a.py").write_text("one\n")
    state = State(repos=str(tmp_path), questions="", log="")
    assert "name too long" not in run(state, "rg", "app", "rg", ["-n", "one|" + "x" * 300])


def test_brief_names_the_command_and_the_questions(tmp_path) -> None:
    text = brief([question()], "ask state.json rg", tmp_path / "rg-1.answers")
    assert "ask state.json rg ID VERB" in text
    assert "q-1: Who calls `pay`?" in text
    assert str(tmp_path / "rg-1.answers") in text


def test_explorer_reads_places_from_answers() -> None:
    text = "1 call:\n  shop.py\n    sell (6-8) 7: pay()\nsrc/a.py:3-9 Till.open: def open(self)\n  test_a.py: depth 1: test_a 4-6"
    assert list(places(text)) == ["shop.py:6-8 sell", "src/a.py:3-9 Till.open", "test_a.py:4-6 test_a"]


def test_questions_are_consistent() -> None:
    every = load()
    assert len({one.id for one in every}) == len(every)
    for one in every:
        assert one.truth or one.verdict == "no", one.id
        assert all(place.start <= place.end for place in one.truth), one.id
        assert len(one.revision) == 40, one.id
