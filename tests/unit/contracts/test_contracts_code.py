"""Packed forms of what parsers and rules extract from a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.code import FileFlags, Flag

FLAGS = st.builds(FileFlags, **dict.fromkeys(FileFlags.model_fields, st.booleans()))


@given(FLAGS)
def test_flags_round_trip_through_their_letters(flags: FileFlags) -> None:
    assert FileFlags.of_letters(flags.letters) == flags


def test_letters_are_those_stored_in_the_index() -> None:
    assert FileFlags().letters == ""
    assert FileFlags(**dict.fromkeys(FileFlags.model_fields, True)).letters == "gvmdt"
    assert Flag.TEST in FileFlags(test=True, generated=True).letters


def test_an_unknown_letter_is_refused() -> None:
    with pytest.raises(ValueError, match="'x'"):
        FileFlags.of_letters("gx")
