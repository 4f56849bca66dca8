import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prism_embedder.core.cache import MemoryVectorCache, vector_key


def vector(value):
    return np.full(3, value, np.float32)


async def test_cache_returns_stored_keys_only():
    cache = MemoryVectorCache()
    await cache.put_many({"a": vector(1), "b": vector(2)})
    found = await cache.get_many(["b", "c"])
    assert list(found) == ["b"]
    np.testing.assert_array_equal(found["b"], vector(2))


async def test_cache_past_its_limit_drops_the_least_recently_used():
    cache = MemoryVectorCache(entries_max=2)
    await cache.put_many({"a": vector(1), "b": vector(2)})
    assert set(await cache.get_many(["a", "b"])) == {"a", "b"}
    await cache.get_many(["a"])
    await cache.put_many({"c": vector(3)})
    assert set(await cache.get_many(["a", "b", "c"])) == {"a", "c"}


async def test_a_kept_row_is_a_copy():
    rows = np.ones((2, 3), np.float32)
    cache = MemoryVectorCache()
    await cache.put_many({"a": rows[0]})
    rows[0] = 7
    np.testing.assert_array_equal((await cache.get_many(["a"]))["a"], vector(1))


parts = st.tuples(st.text(max_size=4), st.text(max_size=4))


@given(parts, parts)
def test_keys_are_equal_only_for_equal_contents(one, other):
    assert (vector_key(*one) == vector_key(*other)) == (one == other)


def test_a_key_is_stable():
    assert vector_key("model", "x = 1") == "e78e7c0ee6b5c009c94e71bd1f65798ac9e0870c0813e7d3d9ae36849297c6d2"
