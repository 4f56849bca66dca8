"""What parsers and rules say of a file, in its short forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.code import FileFlags, Flag

FLAGS = st.builds(FileFlags, **dict.fromkeys(FileFlags.model_fields, st.booleans()))


@given(FLAGS)
def test_flags_come_back_from_their_letters(flags: FileFlags) -> None:
    assert FileFlags.of_letters(flags.letters) == flags


def test_letters_are_what_the_index_has() -> None:
    assert FileFlags().letters == ""
    assert FileFlags(**dict.fromkeys(FileFlags.model_fields, True)).letters == "gvmdt"
    assert Flag.TEST in FileFlags(test=True, generated=True).letters


def test_a_letter_that_is_no_flag_is_refused() -> None:
    with pytest.raises(ValueError, match="'x'"):
        FileFlags.of_letters("gx")
