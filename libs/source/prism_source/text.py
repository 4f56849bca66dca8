"""Detects and decodes text. Pure."""

import codecs
from typing import NamedTuple

from prism_contracts.code import SkipReason
from prism_source.limits import DEFAULT_LIMITS, HEAD_BYTES, SourceLimits
from prism_source.secret_files import is_withheld

# Control characters that text does not contain. Tab, line ends, form feed and escape (terminal colours) do
# occur.
_CONTROL_BYTES = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
# A short key or a compressed blob without a NUL has about 10 %.
_CONTROL_SHARE_MAX = 0.05
# Data with a UTF-16 mark and more undecodable characters than this is not text.
_UNDECODABLE_SHARE_MAX = 0.05

# Longest first: the mark of UTF-32 starts with that of UTF-16.
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32", 4),
    (codecs.BOM_UTF32_BE, "utf-32", 4),
    (codecs.BOM_UTF16_LE, "utf-16", 2),
    (codecs.BOM_UTF16_BE, "utf-16", 2),
)

# https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
_LFS_FIRST_LINE = b"version https://git-lfs.github.com/spec/"
_LFS_POINTER_BYTES_MAX = 1_024


class DecodedText(NamedTuple):
    """The text of a file, with its own line ends and without a byte order mark."""

    text: str
    decode_errors: bool  # characters were replaced by U+FFFD


def skip_reason(
    size_bytes: int, data: bytes, limits: SourceLimits = DEFAULT_LIMITS, path: str = ""
) -> SkipReason | None:
    """Returns why a regular file is not searchable, or None.

    `data` is the content of the file, or at least its first HEAD_BYTES.

    Detects long lines only in `data`: pass the whole content of files above `limits.line_bytes_max`.
    """
    if size_bytes > limits.file_bytes_max:
        return SkipReason.TOO_LARGE
    if size_bytes < _LFS_POINTER_BYTES_MAX and data.startswith(_LFS_FIRST_LINE):
        return SkipReason.LFS_POINTER
    if path and is_withheld(path, data, limits.secrets):
        return SkipReason.SECRET_FILE
    if is_binary(data[:HEAD_BYTES]):
        return SkipReason.BINARY
    if len(data) > limits.line_bytes_max and _longest_line(data) > limits.line_bytes_max:
        return SkipReason.LINE_TOO_LONG
    return None


def is_binary(head: bytes) -> bool:
    """Returns whether the first bytes of a file have a NUL, as in git, or many control characters."""
    wide = _wide_encoding(head)
    if wide:
        return _is_wide_binary(head, *wide)
    if b"\0" in head:
        return True
    return len(head) - len(head.translate(None, _CONTROL_BYTES)) > len(head) * _CONTROL_SHARE_MAX


def decode(data: bytes) -> DecodedText:
    """Decodes a file that is not binary. Never fails: replaces undecodable bytes, and reports that it did."""
    wide = _wide_encoding(data)
    encoding = wide[0] if wide else "utf-8-sig"
    try:
        return DecodedText(data.decode(encoding), decode_errors=False)
    except UnicodeDecodeError:
        return DecodedText(data.decode(encoding, errors="replace"), decode_errors=True)


def _wide_encoding(data: bytes) -> tuple[str, int] | None:
    if data[:1] not in (b"\xff", b"\xfe", b"\0"):
        return None
    return next(((name, width) for mark, name, width in _WIDE_MARKS if data.startswith(mark)), None)


def _is_wide_binary(head: bytes, encoding: str, width: int) -> bool:
    text = head[: len(head) - len(head) % width].decode(encoding, errors="replace")
    return "\0" in text or text.count("\ufffd") > len(text) * _UNDECODABLE_SHARE_MAX


def _longest_line(data: bytes) -> int:
    return max(map(len, data.split(b"\n")))
