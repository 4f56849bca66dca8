"""A signature may admit files without a piece, and must never exclude one that has it."""

import random
import string

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from prism_store.grams import (
    FILLED_SHARE_MAX,
    TABLE_BITS_MAX,
    TABLE_BITS_MIN,
    Signatures,
    lower,
    read_signature,
    write_signature,
)

# Letters that fold across ASCII, that grow when lowered, or that have a final form.
LETTERS = "abkKsS_0 .(\u017f\u212aİıéÉßΣσς中\n"  # noqa: RUF001 - look-alikes are the point
TEXTS = st.one_of(st.text(LETTERS, max_size=60), st.text(max_size=60))


def signatures(*texts: str) -> Signatures:
    return Signatures([read_signature(write_signature(text)) for text in texts])


@given(TEXTS, st.integers(0, 60), st.integers(1, 60), st.sampled_from([str, str.upper, str.swapcase]))
def test_every_piece_of_a_text_passes_its_signature(text, start, size, other_case):
    piece = text[start : start + size]
    assert signatures(text).may_hold([piece]).all()
    if piece.isascii():
        assert signatures(text).may_hold([other_case(piece)]).all()


@given(TEXTS)
@example("ΟΔΟΣ ΟΔΟΣ")
@example("MAſK")  # noqa: RUF001
def test_lower_case_does_not_look_at_neighbours(text):
    assert lower(text) == "".join(map(lower, text))


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_many_signatures_give_the_same_as_one_by_one(texts, piece):
    together = signatures(*texts).may_hold([piece]).tolist()
    assert together == [bool(signatures(text).may_hold([piece]).all()) for text in texts]


def test_one_matching_piece_of_several_is_enough():
    files = signatures("def route_parcel(", "class Depot:", "")
    assert files.may_hold(["route_parcel", "Depot"]).tolist() == [True, True, False]
    assert files.may_hold(["Parcels"]).tolist() == [False, False, False]
    assert files.may_hold([]).tolist() == [False, False, False]


def test_a_piece_shorter_than_a_trigram_passes_everywhere():
    assert signatures("abc", "").may_hold(["ab"]).tolist() == [True, True]


def test_a_file_without_a_signature_always_passes():
    assert Signatures([read_signature("")]).may_hold(["whatever"]).all()


def test_tables_grow_with_the_text_and_stay_mostly_empty():
    chance = random.Random(1)
    sizes = []
    for count in (0, 100, 2_000, 20_000, 200_000):
        table = read_signature(write_signature("".join(chance.choices(string.printable, k=count))))
        sizes.append(8 * len(table))
        if sizes[-1] < TABLE_BITS_MAX:
            assert np.unpackbits(table).mean() <= FILLED_SHARE_MAX
    assert sizes == sorted(sizes)
    assert sizes[0] == TABLE_BITS_MIN
    assert sizes[-1] == TABLE_BITS_MAX


def test_few_files_without_a_piece_pass():
    chance = random.Random(1)
    texts = ["".join(chance.choices(string.ascii_lowercase + " _.(", k=5_000)) for _ in range(100)]
    pieces = [texts[salt][100:110] for salt in range(100)]
    files = signatures(*texts)
    let_through = sum(files.may_hold([piece]).sum() for piece in pieces)
    holding = sum(piece in text for piece in pieces for text in texts)
    assert let_through - holding <= 0.01 * len(pieces) * len(texts)
