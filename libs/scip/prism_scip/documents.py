"""An index in SCIP format, one document at a time.

An index is one protobuf message, `Index`, whose fields indexers write one by one; it may be larger than
memory. Its fields are read here by their lengths, and only documents are decoded. A document is at most about
ten times as large as its file.
"""

from collections.abc import Iterator
from typing import BinaryIO, NoReturn, TypeVar

from google.protobuf.message import DecodeError

from prism_contracts.errors import ErrorCode, PrismError
from prism_scip.scip_pb2 import Document, Index, Metadata

DOCUMENT_BYTES_MAX = 64 * 1024 * 1024
# https://protobuf.dev/programming-guides/encoding: a field begins with its number and its wire type, in one
# varint.
_WIRE_TYPE_BITS = 3
_LENGTH_DELIMITED = 2
_VARINT_BYTES_MAX = 10

Part = TypeVar("Part", Document, Metadata)


def documents(file: BinaryIO) -> Iterator[Document]:
    """Yields the documents of an index, in order.

    Raises SCIP_INVALID at the first invalid byte, PAYLOAD_TOO_LARGE.
    """
    for number, body in _fields(file):
        if number == Index.DOCUMENTS_FIELD_NUMBER:
            yield _decoded(Document, body)


def metadata(file: BinaryIO) -> Metadata:
    """Returns the metadata of an index: its first field. Raises SCIP_INVALID."""
    number, body = next(_fields(file), (0, b""))
    if number != Index.METADATA_FIELD_NUMBER:
        _refuse("It does not begin with metadata.")
    return _decoded(Metadata, body)


def _fields(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yields number and content of each field of the outermost message, all of which have a length."""
    while (tag := _varint(file, may_end=True)) is not None:
        number, wire_type = tag >> _WIRE_TYPE_BITS, tag & ((1 << _WIRE_TYPE_BITS) - 1)
        if wire_type != _LENGTH_DELIMITED or not number:
            _refuse("It is not a protobuf message of type scip.Index.")
        length = _varint(file) or 0
        if length > DOCUMENT_BYTES_MAX:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"A document of the index has {length} bytes; the limit is {DOCUMENT_BYTES_MAX}.",
                "Leave generated files out of the index.",
                limit_bytes=DOCUMENT_BYTES_MAX,
            )
        body = file.read(length)
        if len(body) < length:
            _refuse("It is truncated.")
        yield number, body


def _varint(file: BinaryIO, *, may_end: bool = False) -> int | None:
    value = 0
    for position in range(_VARINT_BYTES_MAX):
        byte = file.read(1)
        if not byte:
            if may_end and not position:
                return None
            _refuse("It is truncated.")
        value |= (byte[0] & 0x7F) << (7 * position)
        if byte[0] < 0x80:  # noqa: PLR2004 - the highest bit says that more bytes follow
            return value
    return _refuse("It is not a protobuf message of type scip.Index.")


def _decoded(kind: type[Part], body: bytes) -> Part:
    try:
        return kind.FromString(body)
    except DecodeError:
        return _refuse(f"A part of it is not a valid scip.{kind.DESCRIPTOR.name}.")


def _refuse(why: str) -> NoReturn:
    raise PrismError(
        ErrorCode.SCIP_INVALID,
        f"The file is not a SCIP index. {why}",
        "Upload the index.scip of an indexer.",
    )
