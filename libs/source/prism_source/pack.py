"""Packs, the format in which a client sends the contents of files to ingest.

    PRPK | version, 1 byte | files, u32 | raw bytes, u32 | zstd of: (ordinal u32 | length u32 | content)*

Numbers are big-endian, ordinals ascend. The same files produce the same bytes, so the digest of a pack
identifies it. The decoder trusts none of the numbers: it checks each before it allocates.
"""

import struct
from collections.abc import Iterable, Iterator

import zstandard

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.limits import DEFAULT_LIMITS, FILES_MAX, PACK_BYTES_MAX, PACK_FILES_MAX, SourceLimits

_MAGIC = b"PRPK"
_VERSION = 2  # version 1 used zlib
_HEADER = struct.Struct(">4sBII")
_FRAME = struct.Struct(">II")
# For source code, a tenth smaller than zlib at the same level, in a third of the time.
_COMPRESSION_LEVEL = 3


def plan_packs(
    sizes: Iterable[tuple[int, int]], pack_bytes_max: int = PACK_BYTES_MAX
) -> Iterator[tuple[int, ...]]:
    """Groups (ordinal, size in bytes) into packs, in the given order. A larger file gets its own pack."""
    group: list[int] = []
    group_bytes = 0
    for ordinal, size_bytes in sizes:
        framed_bytes = size_bytes + _FRAME.size
        if group and (group_bytes + framed_bytes > pack_bytes_max or len(group) == PACK_FILES_MAX):
            yield tuple(group)
            group, group_bytes = [], 0
        group.append(ordinal)
        group_bytes += framed_bytes
    if group:
        yield tuple(group)


def encode_pack(items: Iterable[tuple[int, bytes]]) -> bytes:
    """Encodes one or more (ordinal, content) in any order. Ordinals must be distinct."""
    ordered = sorted(items)
    raw = b"".join(_FRAME.pack(ordinal, len(content)) + content for ordinal, content in ordered)
    return _HEADER.pack(_MAGIC, _VERSION, len(ordered), len(raw)) + _compress(raw)


def decode_pack(data: bytes, limits: SourceLimits = DEFAULT_LIMITS) -> list[tuple[int, bytes]]:
    """Returns the (ordinal, content) of a pack, sorted by ordinal.

    Raises PrismError: MESSAGE_INVALID (not a pack, truncated, forged), PAYLOAD_TOO_LARGE.
    """
    files, raw_bytes = _read_header(data)
    raw_bytes_max = max(PACK_BYTES_MAX, limits.file_bytes_max + _FRAME.size)
    if files > PACK_FILES_MAX or raw_bytes > raw_bytes_max:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The pack has {files:,} files and {raw_bytes:,} bytes.",
            "Send smaller packs.",
            files_max=PACK_FILES_MAX,
            bytes_max=raw_bytes_max,
        )
    items = _split(_decompress(data[_HEADER.size :], raw_bytes))
    if len(items) != files:
        raise _invalid(f"it declares {files} files and contains {len(items)}")
    return items


def _read_header(data: bytes) -> tuple[int, int]:
    if len(data) < _HEADER.size:
        raise _invalid("it is shorter than its header")
    magic, version, files, raw_bytes = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise _invalid("it does not start with the magic bytes of a pack")
    if version != _VERSION:
        raise _invalid(f"its version is {version}, and this Prism reads {_VERSION}")
    if not files:
        raise _invalid("it has no files")
    return files, raw_bytes


def _compress(raw: bytes) -> bytes:
    return zstandard.ZstdCompressor(_COMPRESSION_LEVEL, write_checksum=True).compress(raw)


def _decompress(data: bytes, raw_bytes: int) -> bytes:
    try:
        # Checked before memory is allocated. The decompressor stops at the declared length, so a zip bomb
        # fails.
        if zstandard.get_frame_parameters(data).content_size != raw_bytes:
            raise _invalid("its contents do not have the declared length")
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise _invalid("its contents cannot be decompressed") from error


def _split(raw: bytes) -> list[tuple[int, bytes]]:
    items: list[tuple[int, bytes]] = []
    offset = 0
    previous = -1
    while offset < len(raw):
        if offset + _FRAME.size > len(raw):
            raise _invalid("a file is truncated")
        ordinal, length = _FRAME.unpack_from(raw, offset)
        offset += _FRAME.size
        if length > len(raw) - offset:
            raise _invalid("a file is truncated")
        if not previous < ordinal < FILES_MAX:
            raise _invalid("its ordinals do not ascend")
        items.append((ordinal, raw[offset : offset + length]))
        offset += length
        previous = ordinal
    return items


def _invalid(problem: str) -> PrismError:
    return PrismError(
        ErrorCode.MESSAGE_INVALID,
        f"The pack is not valid: {problem}.",
        "Encode it again with encode_pack of the same version of Prism.",
    )
