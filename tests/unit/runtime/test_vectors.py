import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import Vectors
from prism_runtime.vectors import pack, to_message, unpack

ROWS = np.array([[1.0, -0.5], [0.25, 0.0]], np.float32)

matrices = arrays(
    np.float32, array_shapes(min_dims=2, max_dims=2, min_side=1), elements=st.floats(-1, 1, width=32)
)


def test_the_wire_is_little_endian_float16_row_after_row():
    assert pack(ROWS) == struct.pack("<4e", 1.0, -0.5, 0.25, 0.0)


@given(matrices)
def test_a_round_trip_keeps_three_digits(rows):
    back = unpack(pack(rows), *rows.shape)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, rows, atol=5e-4)


@given(matrices)
def test_a_second_round_trip_changes_nothing(rows):
    once = pack(rows)
    assert pack(unpack(once, *rows.shape)) == once


def test_no_rows_are_a_matrix_too():
    assert unpack(pack(np.empty((0, 3), np.float32)), 0, 3).shape == (0, 3)


def test_decoded_vectors_are_writable():
    unpack(pack(ROWS), 2, 2)[0, 0] = 5


@pytest.mark.parametrize("count", [1, 3])
def test_the_wrong_size_is_refused(count):
    with pytest.raises(PrismError) as caught:
        unpack(pack(ROWS), count, 2)
    assert caught.value.code is ErrorCode.MESSAGE_INVALID


@pytest.mark.parametrize("rows", [np.zeros(3), np.full((1, 2), np.nan), np.full((1, 2), 70_000.0)])
def test_rows_that_do_not_fit_are_refused(rows):
    with pytest.raises(ValueError, match=r"axes|float16"):
        pack(rows)


def test_messages_round_trip():
    message = to_message("abc", ROWS)
    assert (message.count, message.dimension) == (2, 2)
    again = Vectors.model_validate_json(message.model_dump_json())
    np.testing.assert_array_equal(unpack(again.data, again.count, again.dimension), ROWS)
