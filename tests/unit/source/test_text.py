"""Bytes that are text, and bytes that are not."""

import codecs
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.code import SkipReason
from prism_source.limits import FILE_BYTES_MAX, HEAD_BYTES, LINE_BYTES_MAX, SourceLimits
from prism_source.text import decode, is_binary, skip_reason

LFS_POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


def reason(data: bytes) -> SkipReason | None:
    return skip_reason(len(data), data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a = 1\r\nb = 2\r\n",
        "grüße".encode("latin-1"),
        "日本語\n".encode(),
        b"\x1b[31mred\x1b[0m\f\v",
        codecs.BOM_UTF8 + b"x",
        "a\n".encode("utf-16"),
        codecs.BOM_UTF16_BE + "日本".encode("utf-16-be"),
        "a\n".encode("utf-32"),
    ],
)
def test_text_is_recognized(data):
    assert reason(data) is None


@pytest.mark.parametrize(
    "data",
    [
        b"abc\0def",
        b"x" * (HEAD_BYTES - 1) + b"\0",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        bytes(range(1, 32)) * 10,
        "no mark".encode("utf-16-le"),
        codecs.BOM_UTF16_LE + b"\0\0" * 30,
        codecs.BOM_UTF16_LE + b"\x00\xd8" * 30,
    ],
)
def test_binary_is_recognized(data):
    assert reason(data) is SkipReason.BINARY


def test_a_nul_past_the_head_does_not_make_a_file_binary():
    assert reason(b"x\n" * (HEAD_BYTES // 2) + b"\0") is None


def test_size_is_limited_at_the_limit_and_just_past_it():
    assert skip_reason(FILE_BYTES_MAX, b"x") is None
    assert skip_reason(FILE_BYTES_MAX + 1, b"x") is SkipReason.TOO_LARGE
    assert skip_reason(11, b"x", SourceLimits(file_bytes_max=10)) is SkipReason.TOO_LARGE


def test_lines_are_limited_at_the_limit_and_just_past_it():
    assert reason(b"x" * LINE_BYTES_MAX + b"\n") is None
    assert reason(b"short\n" + b"x" * (LINE_BYTES_MAX + 1) + b"\n") is SkipReason.LINE_TOO_LONG
    assert reason(b"var a=1;" * 40_000) is None, "a minified library of 300 KiB stays searchable"


def test_an_lfs_pointer_is_one_only_if_it_is_small():
    assert reason(LFS_POINTER) is SkipReason.LFS_POINTER
    assert reason(LFS_POINTER + b"x" * 1_024) is None


def test_byte_order_marks_are_removed_and_line_ends_kept():
    assert decode(codecs.BOM_UTF8 + b"a\r\nb\rc\n") == ("a\r\nb\rc\n", False)
    assert decode("ä\r\n".encode("utf-16")) == ("ä\r\n", False)
    assert decode(codecs.BOM_UTF32_BE + "ä".encode("utf-32-be")) == ("ä", False)


def test_undecodable_bytes_are_replaced_and_reported():
    assert decode(b"gr\xfc\xdfe\n") == ("gr\ufffd\ufffde\n", True)
    assert decode("ab".encode("utf-16") + b"x").decode_errors


@given(st.binary(max_size=200))
def test_decoding_never_fails_and_gives_valid_text(data):
    decode(data).text.encode()
    is_binary(data)
    is_binary(codecs.BOM_UTF16_LE + data)


def test_random_bytes_are_binary():
    assert all(is_binary(os.urandom(4_096)) for _ in range(20))
