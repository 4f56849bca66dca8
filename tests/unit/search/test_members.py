"""Hits as symbols: the member that answers, and its lines."""

from dataclasses import replace
from textwrap import dedent

import pytest

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_search.core.matching import Question
from prism_search.core.outline import Outline, OutlineEntry
from prism_search.core.passages import Range
from prism_search.core.query import parse_query
from prism_search.core.retrieval.candidates import Candidate
from prism_search.core.retrieval.member_text import MemberText
from prism_search.core.retrieval.members import (
    BEFORE_LINES_MAX,
    BUDGETS,
    BUDGETS_IF_UNSURE,
    CALLEE_LINES_MAX,
    FILE_LINES_MAX,
    Callee,
    Member,
    callees_of,
    extent,
    member_of,
    short_callee,
    whole_file,
)


def ask(text: str) -> Question:
    query = parse_query(text)
    return Question(query, dict.fromkeys(query.stems, 1.0))


def candidate(
    definitions: list[tuple[str, str, int, int]], language: str = "python", path: str = "a"
) -> Candidate:
    """Returns a file; a definition is its kind, qualified name, first and last line."""
    groups = {**dict.fromkeys(TYPE_KINDS, "T"), **dict.fromkeys(CALLABLE_KINDS, "F")}
    packed = (
        f"{groups.get(kind, 'V')}\t{kind}\t{start}\t{end}\t{name}" for kind, name, start, end in definitions
    )
    return Candidate(
        file=path,
        repo="r",
        path=path,
        generation="g",
        language=language,
        lines=10_000,
        outline=Outline("\n".join(packed)),
    )


def member(
    question: str,
    file: Candidate,
    code: str,
    found: Range | None = None,
    rank: int = 0,
    among: Range | None = None,
) -> Member:
    text = MemberText(dedent(code).strip("\n"), 1, file.language)
    return member_of(ask(question), file, found or Range(1, max(text.lines)), text, rank=rank, among=among)


def labels(
    question: str, file: Candidate, hit: Member, text: MemberText, files: list[Candidate]
) -> list[str]:
    return [one.label for one in callees_of(ask(question), file, hit, text, files)]


PYTHON = '''
"""Counts failures. The licence follows."""


class Limiter:
    """Limits calls."""

    def hit(self, key):
        """Counts a call. Raises if there are too many."""
        self.calls[key] += 1
        return self._check(key)

    def _check(self, key):
        if self.calls[key] > self.most:
            raise TooManyFailures(key)
'''
PYTHON_FILE = candidate(
    [("class", "Limiter", 4, 14), ("method", "Limiter.hit", 7, 10), ("method", "Limiter._check", 12, 14)]
)
GO = """
// Package limits has limits.
package limits

// Hit counts a call.
func (l *Limiter) Hit(key string) error {
	l.calls[key]++
	return l.check(key)
}

// check fails after too many failures.
func (l *Limiter) check(key string) error {
	if l.calls[key] > l.most {
		return ErrTooManyFailures
	}
	return nil
}
"""
GO_FILE = candidate([("method", "Limiter.Hit", 5, 8), ("method", "Limiter.check", 11, 16)], "go")
TYPESCRIPT = """
/** Limits calls. */
export class Limiter {
  hit(key: string): void {
    this.calls[key]++;
    this.check(key);
  }

  private check(key: string): void {
    if (this.calls[key] > this.most) throw new TooManyFailures(key);
  }
}
"""
TYPESCRIPT_FILE = candidate(
    [("class", "Limiter", 2, 11), ("method", "Limiter.hit", 3, 6), ("method", "Limiter.check", 8, 10)],
    "typescript",
)
JAVA = """
/*
 * Licence.
 */
class Limiter {
  void hit(String key) {
    calls.add(key);
    check(key);
  }

  private void check(String key) {
    if (calls.count(key) > most) throw new TooManyFailures(key);
  }
}
"""
JAVA_FILE = candidate(
    [("class", "Limiter", 4, 13), ("method", "Limiter.hit", 5, 8), ("method", "Limiter.check", 10, 12)],
    "java",
)
SAMPLES = [(PYTHON_FILE, PYTHON), (GO_FILE, GO), (TYPESCRIPT_FILE, TYPESCRIPT), (JAVA_FILE, JAVA)]


@pytest.mark.parametrize(("file", "code"), SAMPLES, ids=["python", "go", "typescript", "java"])
def test_hit_is_the_member_that_says_most_words(file, code) -> None:
    found = member("too many failures", file, code)
    assert found.symbol.qualified_name.lower().endswith("check")
    assert (found.start, found.end) == (found.symbol.start, found.symbol.end)
    assert all(found.start <= line.number <= found.end for line in found.lines)
    assert set(found.matched) == {"many", "failures", "too"} - (
        {"too"} if "too" not in found.matched else set()
    )


@pytest.mark.parametrize(("file", "code"), SAMPLES, ids=["python", "go", "typescript", "java"])
def test_first_line_shown_is_the_signature(file, code) -> None:
    found = member("too many failures", file, code)
    assert "check" in found.lines[0].text
    assert found.signature.startswith(found.lines[0].text.rstrip(" {:"))


def test_documentation_is_cut_to_its_first_line() -> None:
    doc = ["    # Second line."] * 30
    code = "\n".join(
        ["def pay(order):", '    """Pays an order.', "", *doc, '    """', "    return order.total"]
    )
    found = member("pay", candidate([("function", "pay", 1, 35)]), code)
    assert [line.text for line in found.lines] == [
        "def pay(order):",
        '    """Pays an order.',
        "    return order.total",
    ]


def test_long_function_shows_its_best_lines() -> None:
    body = [f"    step_{number}(order)" for number in range(60)]
    body[40] = "    refund_customer(order)"
    file = candidate([("function", "settle", 1, 61)])
    found = member("refund customer", file, "\n".join(["def settle(order):", *body]))
    assert [line.number for line in found.lines] == [1, 41, 42, 43]
    assert sum(len(line.text) for line in found.lines) <= BUDGETS[0].chars


def test_question_that_names_a_class_gets_the_class() -> None:
    body = [f"    def part_{number}(self): return {number}" for number in range(60)]
    file = candidate(
        [
            ("class", "Ledger", 1, 61),
            *(("method", f"Ledger.part_{number}", number + 2, number + 2) for number in range(60)),
        ]
    )
    code = "\n".join(["class Ledger:", *body])
    assert member("Ledger", file, code).symbol.qualified_name == "Ledger"
    assert member("part 7 of a book", file, code).symbol.qualified_name == "Ledger.part_7"


def test_lines_outside_of_symbols_are_top_level() -> None:
    found = member("retries", candidate([]), "RETRIES = 3\nWAIT = 5")
    assert (found.symbol, found.start, found.end, found.signature) == (None, 1, 2, "")


def test_third_hit_has_a_signature_and_no_lines() -> None:
    found = member("too many failures", PYTHON_FILE, PYTHON, rank=2)
    assert found.lines == ()
    assert found.signature == "def _check(self, key):"


def test_best_member_of_the_whole_file_may_be_outside_the_passage() -> None:
    text = MemberText(dedent(PYTHON).strip("\n"), 1, "python")
    of_hit = Range(7, 10)
    question = ask("too many failures")
    near = member_of(question, PYTHON_FILE, of_hit, text, rank=0)
    assert (near.symbol.qualified_name, near.beside) == ("Limiter.hit", ())
    best = member_of(question, PYTHON_FILE, of_hit, text, rank=0, among=Range(1, 14))
    assert best.symbol.qualified_name == "Limiter._check"
    assert best.beside == ("Limiter.hit 7-10",)


def test_a_function_with_more_words_than_the_first_hit_shows_its_code() -> None:
    code = (
        "class FailureKinds:\n    MANY = 'failures'\n\n\n"
        "def stop(key):\n    if count(key) > 3:\n        raise TooMany('too many failures of a key')\n"
    )
    file = candidate([("class", "FailureKinds", 1, 2), ("function", "stop", 5, 7)])
    found = member("FailureKinds raise too many", file, code, among=Range(1, 7))
    assert found.symbol.qualified_name == "FailureKinds"
    assert found.beside == ("stop 5-7",)
    assert [line.number for line in found.beside_lines] == [5, 6, 7]
    again = member("FailureKinds raise too many", file, code, among=Range(1, 7), rank=1)
    assert again.beside_lines == ()


def test_a_function_with_fewer_words_than_the_first_hit_has_no_code_beside_it() -> None:
    text = MemberText(dedent(PYTHON).strip("\n"), 1, "python")
    best = member_of(ask("too many failures"), PYTHON_FILE, Range(7, 10), text, rank=0, among=Range(1, 14))
    assert best.beside == ("Limiter.hit 7-10",)
    assert best.beside_lines == ()


RUST = """
fn settle(order: Order) -> Receipt {
    pay(order)
}

#[cfg(test)]
mod tests {
    fn settle_pays_the_order_once() {
        assert!(settle(order()).paid);
    }
}
"""
RUST_FILE = candidate(
    [
        ("function", "settle", 1, 3),
        ("module", "tests", 6, 10),
        ("function", "tests.settle_pays_the_order_once", 7, 9),
    ],
    "rust",
)


def test_tests_inside_a_source_file_answer_only_questions_about_tests() -> None:
    assert member("settle pays an order once", RUST_FILE, RUST).symbol.qualified_name == "settle"
    about_tests = member("test that settle pays the order once", RUST_FILE, RUST)
    assert about_tests.symbol.qualified_name == "tests.settle_pays_the_order_once"


def test_longest_files_are_not_compared_whole() -> None:
    assert whole_file(candidate([])) is None
    short = replace(candidate([]), lines=FILE_LINES_MAX)
    assert whole_file(short) == Range(1, FILE_LINES_MAX)


def test_extent_begins_with_the_function_that_a_passage_cuts() -> None:
    file = candidate([("function", "settle", 100, 400)])
    assert extent(file, Range(150, 180)).start == 100
    assert extent(file, Range(100 + BEFORE_LINES_MAX + 1, 300)).start == 100 + BEFORE_LINES_MAX + 1


def test_callees_are_functions_defined_once() -> None:
    hit = member("count a call with hit", PYTHON_FILE, PYTHON, Range(7, 10))
    text = MemberText(dedent(PYTHON).strip("\n"), 1, "python")
    assert hit.symbol.qualified_name == "Limiter.hit"
    assert labels("count", PYTHON_FILE, hit, text, [PYTHON_FILE]) == ["Limiter._check 12-14"]
    twice = candidate([("method", "Limiter._check", 12, 14), ("method", "Other._check", 20, 22)])
    assert labels("count", twice, hit, text, [twice]) == []


def test_callees_of_other_files_have_a_word_of_the_question() -> None:
    hit = member("count a call with hit", PYTHON_FILE, PYTHON, Range(7, 10))
    text = MemberText(dedent(PYTHON).strip("\n"), 1, "python")
    caller = candidate([("method", "Limiter.hit", 7, 10)])
    other = candidate([("function", "_check", 1, 3)], path="b.py")
    assert labels("check a key", caller, hit, text, [caller, other]) == ["_check b.py:1-3"]
    assert labels("count", caller, hit, text, [caller, other]) == []


def test_second_hit_is_whole_if_the_first_one_is_uncertain() -> None:
    lines = [f"    step_{number}(order)" for number in range(15)]
    code, file = "\n".join(["def settle(order):", *lines]), candidate([("function", "settle", 1, 16)])
    text, question = MemberText(code, 1, "python"), ask("settle")
    sure = member_of(question, file, Range(1, 16), text, rank=1, budgets=BUDGETS)
    unsure = member_of(question, file, Range(1, 16), text, rank=1, budgets=BUDGETS_IF_UNSURE)
    assert len(sure.lines) < len(unsure.lines) == 16


def test_short_callee_with_a_word_of_the_question_is_shown() -> None:
    text = MemberText(dedent(PYTHON).strip("\n"), 1, "python")
    hit = member("count a call with hit", PYTHON_FILE, PYTHON, Range(7, 10))
    checks = callees_of(ask("check a key"), PYTHON_FILE, hit, text, [PYTHON_FILE])
    assert [line.number for line in short_callee(checks, text)] == [12, 13, 14]
    unrelated = callees_of(ask("count"), PYTHON_FILE, hit, text, [PYTHON_FILE])
    assert short_callee(unrelated, text) == ()


def test_callee_outside_the_text_or_too_long_is_not_shown() -> None:
    text = MemberText(dedent(PYTHON).strip("\n"), 1, "python")
    outside = Callee(1.0, OutlineEntry("F", "function", 12, 14, "_check"), "b.py")
    assert short_callee([outside], text) == ()
    long = "\n".join(["def check(key):", *["    look(key)"] * CALLEE_LINES_MAX])
    whole = Callee(1.0, OutlineEntry("F", "function", 1, CALLEE_LINES_MAX + 1, "check"))
    assert short_callee([whole], MemberText(long, 1, "python")) == ()


def test_a_text_returns_the_lines_that_it_has():
    text = MemberText("first\nsecond\nthird", 10, "python")
    assert text.text_of(Range(11, 12)) == "second\nthird"
    assert text.text_of(Range(11, 13)) is None


def test_a_text_answers_several_questions():
    text = MemberText("def settle(): ...\ndef refund(): ...", 1, "python")
    settle, refund = ask("settle"), ask("refund")
    assert text.stems_by_line(settle).keys() == {1}
    assert text.stems_by_line(refund).keys() == {2}
    assert text.stems_by_line(settle).keys() == {1}
