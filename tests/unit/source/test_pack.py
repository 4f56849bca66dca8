"""Packs round-trip, and everything else is refused."""

import contextlib
import struct

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.limits import FILES_MAX, PACK_BYTES_MAX, PACK_FILES_MAX, SourceLimits
from prism_source.pack import decode_pack, encode_pack, plan_packs

ITEMS = st.dictionaries(st.integers(0, FILES_MAX - 1), st.binary(max_size=300), min_size=1, max_size=20)


def forge(raw: bytes, *, magic=b"PRPK", version=2, files=1, raw_bytes=None) -> bytes:
    size = len(raw) if raw_bytes is None else raw_bytes
    return struct.pack(">4sBII", magic, version, files, size) + zstandard.compress(raw)


def frame(ordinal: int, content: bytes) -> bytes:
    return struct.pack(">II", ordinal, len(content)) + content


def refusal(data: bytes, limits: SourceLimits | None = None) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        decode_pack(data, limits or SourceLimits())
    return caught.value.code


@given(ITEMS)
def test_packs_round_trip(items):
    assert decode_pack(encode_pack(items.items())) == sorted(items.items())


@given(ITEMS)
def test_the_order_of_files_does_not_change_the_pack(items):
    assert encode_pack(items.items()) == encode_pack(reversed(items.items()))


@given(ITEMS, st.data())
def test_a_damaged_pack_is_refused_or_unharmed(items, data):
    pack = bytearray(encode_pack(items.items()))
    position = data.draw(st.integers(0, len(pack) - 1))
    pack[position] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(PrismError):
        assert decode_pack(bytes(pack)) == sorted(items.items())


@given(ITEMS, st.data())
def test_a_cut_pack_is_refused(items, data):
    pack = encode_pack(items.items())
    assert refusal(pack[: data.draw(st.integers(0, len(pack) - 1))]) is ErrorCode.MESSAGE_INVALID


@given(st.binary(max_size=300))
def test_random_bytes_are_refused(noise):
    assert refusal(b"PRPK\x02" + noise) in (ErrorCode.MESSAGE_INVALID, ErrorCode.PAYLOAD_TOO_LARGE)


@pytest.mark.parametrize(
    "pack",
    [
        b"",
        forge(frame(0, b"x"), magic=b"ZIP!"),
        forge(frame(0, b"x"), version=1),
        forge(frame(0, b"x"), files=2),
        forge(frame(0, b"x"), files=0),
        encode_pack([]),
        forge(frame(0, b"x"), raw_bytes=3),
        forge(frame(0, b"x"), raw_bytes=100),
        forge(frame(0, b"x"))[:-1],
        forge(frame(0, b"x")) + b"more",
        forge(frame(0, b"x")[:-1]),
        forge(frame(0, b"x") + b"abc"),
        forge(struct.pack(">II", 0, 2**32 - 1)),
        forge(frame(1, b"x") + frame(1, b"y"), files=2),
        forge(frame(2, b"x") + frame(1, b"y"), files=2),
        forge(frame(FILES_MAX, b"x")),
    ],
)
def test_forged_packs_are_refused(pack):
    assert refusal(pack) is ErrorCode.MESSAGE_INVALID


def test_a_bomb_is_stopped_before_it_unpacks():
    bomb = b"\0" * (20 * PACK_BYTES_MAX)
    assert refusal(forge(bomb)) is ErrorCode.PAYLOAD_TOO_LARGE
    assert refusal(forge(bomb, raw_bytes=100)) is ErrorCode.MESSAGE_INVALID


def test_a_bomb_with_a_false_length_is_stopped():
    frame_declared = zstandard.compress(b"\0" * PACK_BYTES_MAX)
    frame_true = zstandard.compress(b"\0" * (2 * PACK_BYTES_MAX))
    header, declared = zstandard.frame_header_size(frame_true), zstandard.frame_header_size(frame_declared)
    lying = frame_declared[:declared] + frame_true[header:]
    assert refusal(forge(b"", raw_bytes=PACK_BYTES_MAX)[:13] + lying) is ErrorCode.MESSAGE_INVALID


def test_sizes_are_limited_at_the_limit_and_just_past_it():
    at_limit = encode_pack([(0, b"x" * (PACK_BYTES_MAX - 8))])
    assert len(decode_pack(at_limit)) == 1
    past_limit = encode_pack([(0, b"x" * (PACK_BYTES_MAX - 7))])
    assert refusal(past_limit) is ErrorCode.PAYLOAD_TOO_LARGE
    assert len(decode_pack(past_limit, SourceLimits(file_bytes_max=PACK_BYTES_MAX))) == 1
    assert len(decode_pack(encode_pack((n, b"") for n in range(PACK_FILES_MAX)))) == PACK_FILES_MAX
    assert refusal(encode_pack((n, b"") for n in range(PACK_FILES_MAX + 1))) is ErrorCode.PAYLOAD_TOO_LARGE


@given(st.lists(st.integers(0, 300), max_size=50))
def test_plans_contain_every_file_once_and_fit(sizes):
    groups = list(plan_packs(enumerate(sizes), 200))
    assert [ordinal for group in groups for ordinal in group] == list(range(len(sizes)))
    for group in groups:
        assert len(group) == 1 or sum(sizes[ordinal] + 8 for ordinal in group) <= 200


def test_a_large_file_gets_a_pack_of_its_own():
    assert list(plan_packs([(0, 10), (1, 5_000), (2, 10)], 1_000)) == [(0,), (1,), (2,)]
    assert [len(group) for group in plan_packs((n, 0) for n in range(PACK_FILES_MAX + 1))] == [
        PACK_FILES_MAX,
        1,
    ]
