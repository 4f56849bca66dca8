from hypothesis import given
from hypothesis import strategies as st

from prism_embedder.core.cache import vector_key

parts = st.tuples(st.text(max_size=4), st.text(max_size=4))


@given(parts, parts)
def test_keys_are_equal_only_for_equal_contents(one, other):
    assert (vector_key(*one) == vector_key(*other)) == (one == other)


def test_a_key_is_stable():
    assert vector_key("model", "x = 1") == "e78e7c0ee6b5c009c94e71bd1f65798ac9e0870c0813e7d3d9ae36849297c6d2"
