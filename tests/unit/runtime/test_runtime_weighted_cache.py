"""The total weight of a cache never exceeds its limit."""

from hypothesis import given
from hypothesis import strategies as st

from prism_runtime.weighted_cache import WeightedCache

MAX = 10


def test_the_oldest_entry_is_evicted_past_the_weight():
    cache: WeightedCache[str, str] = WeightedCache(MAX)
    cache.put("a", "A", 5)
    cache.put("b", "B", 5)
    assert (cache.get("a"), cache.get("b")) == ("A", "B")
    cache.put("c", "C", 1)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (None, "B", "C")


def test_an_entry_heavier_than_the_limit_is_not_kept():
    cache: WeightedCache[str, str] = WeightedCache(MAX)
    cache.put("heavy", "H", MAX + 1)
    assert cache.get("heavy") is None
    cache.put("light", "L", MAX)
    assert cache.get("light") == "L"


def test_dropped_entries_release_their_weight():
    cache: WeightedCache[str, int] = WeightedCache(MAX)
    for key, weight in (("a", 5), ("b", 2), ("c", 3)):
        cache.put(key, weight, weight)
    cache.drop_if(lambda key, weight: key == "a" or weight == 3)
    assert [cache.get(key) for key in "abc"] == [None, 2, None]
    assert cache.room == MAX - 2


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, MAX + 2))))
def test_the_weight_is_the_sum_of_the_entries(steps):
    cache: WeightedCache[str, int] = WeightedCache(MAX)
    for key, weight in steps:
        cache.put(key, weight, weight)
        there = [found for name in "abcd" if (found := cache.get(name)) is not None]
        assert sum(there) <= MAX
        assert cache.room == MAX - sum(there)
