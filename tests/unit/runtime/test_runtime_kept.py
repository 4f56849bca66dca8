"""What is kept stays under its weight, whatever comes."""

from hypothesis import given
from hypothesis import strategies as st

from prism_runtime.kept import Kept

MAX = 10


def test_the_oldest_entry_is_evicted_past_the_weight():
    kept: Kept[str, str] = Kept(MAX)
    kept.keep("a", "A", 5)
    kept.keep("b", "B", 5)
    assert (kept.get("a"), kept.get("b")) == ("A", "B")
    kept.keep("c", "C", 1)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (None, "B", "C")


def test_an_entry_heavier_than_the_limit_is_not_kept():
    kept: Kept[str, str] = Kept(MAX)
    kept.keep("heavy", "H", MAX + 1)
    assert kept.get("heavy") is None
    kept.keep("light", "L", MAX)
    assert kept.get("light") == "L"


def test_dropped_entries_release_their_weight():
    kept: Kept[str, int] = Kept(MAX)
    for key, weight in (("a", 5), ("b", 2), ("c", 3)):
        kept.keep(key, weight, weight)
    kept.drop_if(lambda key, weight: key == "a" or weight == 3)
    assert [kept.get(key) for key in "abc"] == [None, 2, None]
    assert kept.room == MAX - 2


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, MAX + 2))))
def test_the_weight_is_the_sum_of_the_entries(steps):
    kept: Kept[str, int] = Kept(MAX)
    for key, weight in steps:
        kept.keep(key, weight, weight)
        there = [found for name in "abcd" if (found := kept.get(name)) is not None]
        assert sum(there) <= MAX
        assert kept.room == MAX - sum(there)
