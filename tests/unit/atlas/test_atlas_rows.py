"""Stable orders of columns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from prism_atlas.core.rows import order_by

COLUMNS = st.integers(0, 40).flatmap(
    lambda rows: st.lists(
        arrays.arrays(np.int32, rows, elements=st.sampled_from([-(2**31), -1, 0, 1, 7, 2**31 - 1])),
        min_size=1,
        max_size=4,
    )
)


@given(COLUMNS)
def test_order_is_stable_and_by_the_first_column_first(columns):
    assert order_by(*columns).tolist() == np.lexsort(columns[::-1]).tolist()
