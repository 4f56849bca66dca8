"""What differs between two texts."""

import difflib
import random

from hypothesis import given
from hypothesis import strategies as st

from prism_gateway.console.differences import (
    ADDED,
    EDITS_MAX,
    REMOVED,
    SAME,
    DiffRow,
    TextDiff,
    difference,
    unified,
)
from prism_source.unified_diff import parse_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  }"]), max_size=40)


def applied(before: list[str], shown: TextDiff) -> list[str]:
    """Returns what the rows make of a text."""
    made, at = [], 0
    for hunk in shown.hunks:
        start = next((row.before - 1 for row in hunk if row.before), at)
        made += before[at:start]
        at = start
        for row in hunk:
            if row.mark != ADDED:
                assert before[at] == row.text
                assert row.before == at + 1
                at += 1
            if row.mark != REMOVED:
                made.append(row.text)
                assert row.after == len(made)
    return made + before[at:]


@given(LINES, LINES)
def test_a_diff_makes_one_text_from_the_other(before: list[str], after: list[str]) -> None:
    shown = difference(before, after)
    assert applied(before, shown) == after
    assert shown.added - shown.removed == len(after) - len(before)
    assert bool(shown.hunks) == (before != after)


@given(LINES, LINES)
def test_a_diff_is_no_longer_than_that_of_difflib(before: list[str], after: list[str]) -> None:
    shown = difference(before, after)
    known = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert shown.added + shown.removed <= len(known)


@given(LINES, LINES)
def test_a_unified_diff_can_be_read(before: list[str], after: list[str]) -> None:
    shown = difference(before, after)
    if shown.hunks:
        (patch,) = parse_diff(unified("src/a.py", shown))
        marks = [line.mark for hunk in patch.hunks for line in hunk.lines]
        assert marks == [row.mark for hunk in shown.hunks for row in hunk]


def test_a_diff_of_a_whole_file_can_be_read() -> None:
    (gone,) = parse_diff(unified("src/a.py", difference(["a", "b"], []), is_gone=True))
    (new,) = parse_diff(unified("src/a.py", difference([], ["a", "b"]), is_new=True))
    assert (gone.old_path, gone.new_path) == ("src/a.py", "")
    assert (new.old_path, new.new_path) == ("", "src/a.py")


def test_lines_around_a_change_are_shown_with_both_numbers() -> None:
    before = [str(number) for number in range(1, 21)]
    after = [*before[:9], "new", *before[9:]]
    (hunk,) = difference(before, after).hunks
    assert hunk[0] == DiffRow(SAME, 7, 7, "7")
    assert hunk[3] == DiffRow(ADDED, 0, 10, "new")
    assert hunk[-1] == DiffRow(SAME, 12, 13, "12")


def test_changes_that_are_far_apart_are_two_hunks() -> None:
    before = [str(number) for number in range(40)]
    after = ["x", *before[1:-1], "y"]
    assert len(difference(before, after).hunks) == 2


def test_texts_with_too_many_changes_are_one_replacement() -> None:
    before = ["same"] + [f"old {number // 2}" for number in range(EDITS_MAX)] + ["end"]
    after = ["same"] + [f"new {number}" for number in range(EDITS_MAX)] + ["end"]
    (hunk,) = difference(before, after).hunks
    assert [row.mark for row in hunk] == [SAME, *REMOVED * EDITS_MAX, *ADDED * EDITS_MAX, SAME]


def test_the_work_for_lines_that_repeat_is_bounded() -> None:
    dice = random.Random(7)
    reads = 0

    class Line(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal reads
            reads += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    texts = [[Line(dice.choice("abcdefgh")) for _ in range(2_000)] for _ in range(2)]
    difference(*texts)
    assert reads < 2 * EDITS_MAX * EDITS_MAX + 20_000
