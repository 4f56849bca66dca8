"""What is kept stays under its weight, whatever comes."""

from hypothesis import given
from hypothesis import strategies as st

from prism_runtime.kept import Kept

MAX = 10


def test_what_came_first_goes_when_the_weight_is_passed():
    kept: Kept[str, str] = Kept(MAX)
    kept.keep("a", "A", 5)
    kept.keep("b", "B", 5)
    assert (kept.get("a"), kept.get("b")) == ("A", "B")
    kept.keep("c", "C", 1)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (None, "B", "C")


def test_what_is_heavier_alone_than_all_may_be_is_not_kept():
    kept: Kept[str, str] = Kept(MAX)
    kept.keep("heavy", "H", MAX + 1)
    assert kept.get("heavy") is None
    kept.keep("light", "L", MAX)
    assert kept.get("light") == "L"


def test_what_meets_a_condition_is_dropped_with_its_weight():
    kept: Kept[str, int] = Kept(MAX)
    for key, weight in (("a", 5), ("b", 2), ("c", 3)):
        kept.keep(key, weight, weight)
    kept.drop_if(lambda key, weight: key == "a" or weight == 3)
    assert [kept.get(key) for key in "abc"] == [None, 2, None]
    assert kept.room == MAX - 2


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, MAX + 2))))
def test_the_weight_is_that_of_what_is_there(steps):
    kept: Kept[str, int] = Kept(MAX)
    for key, weight in steps:
        kept.keep(key, weight, weight)
        there = [found for name in "abcd" if (found := kept.get(name)) is not None]
        assert sum(there) <= MAX
        assert kept.room == MAX - sum(there)
