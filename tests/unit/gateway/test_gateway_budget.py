"""Fitting an answer into its budget."""

from hypothesis import given
from hypothesis import strategies as st

from prism_gateway.budget import Fit, cut, fit

LENGTHS = st.lists(st.tuples(st.integers(0, 5_000), st.integers(1, 200)), min_size=1, max_size=40)


def test_an_answer_that_fits_is_unchanged() -> None:
    assert fit([10, 20], [5, 5], 40, 10) == Fit(2, 20)
    assert fit([], [], 0, 10) == Fit(0, 0)


def test_long_texts_are_cut_before_results_are_dropped() -> None:
    assert fit([1_000, 50, 1_000], [0, 0, 0], 650, 100) == Fit(3, 300)


def test_last_results_are_dropped_when_texts_are_at_the_floor() -> None:
    assert fit([1_000] * 5, [10] * 5, 330, 100).kept == 3


def test_the_first_result_is_always_kept() -> None:
    assert fit([1_000], [50], 10, 100) == Fit(1, 100)


@given(LENGTHS, st.integers(0, 20_000), st.integers(0, 500))
def test_the_rest_fits_unless_only_the_first_is_left(items, budget, floor) -> None:
    texts, overheads = [text for text, _ in items], [overhead for _, overhead in items]
    kept, cap = fit(texts, overheads, budget, floor)
    used = sum(min(text, cap) for text in texts[:kept]) + sum(overheads[:kept])
    assert 1 <= kept <= len(items)
    assert used <= budget or kept == 1
    if kept < len(items):
        assert used + min(texts[kept], floor) + overheads[kept] > budget or cap > floor


def test_a_text_is_cut_at_a_line_end_near_the_limit() -> None:
    text = "one\ntwo\nthree\nfour\n"
    assert cut(text, 100) == (text, 0)
    assert cut(text, 10) == ("one\ntwo", 2)
    assert cut("x" * 20, 10) == ("x" * 10, 0)


@given(st.text(alphabet="ab\n", max_size=60), st.integers(0, 70))
def test_a_cut_text_keeps_its_head_and_counts_the_rest(text, chars_max) -> None:
    head, missing = cut(text, chars_max)
    assert text.startswith(head)
    assert len(head) <= max(chars_max, 0)
    if head != text:
        assert missing == len(text.rstrip("\n").split("\n")) - len(head.split("\n"))
