"""Conversion of a chunked file to an embedded one. Symbols and references pass through as the
bytes received.
"""

from prism_contracts.base import Message
from prism_contracts.events import FileEvent, Vectors

_ADDRESS = set(FileEvent.model_fields)


class ChunkText(Message):
    """The embedded fields of a `Chunk`."""

    text: str


class ChunkTexts(FileEvent):
    """The embedded fields of a `FileChunked`."""

    chunks: tuple[ChunkText, ...]


def embedded_body(event: ChunkTexts, chunked: bytes, vectors: Vectors) -> bytes:
    """Returns the JSON of a `FileEmbedded`. `chunked` is the JSON of the `FileChunked` from which `event` was
    read.
    """
    address = event.model_dump_json(include=_ADDRESS).encode()
    parts = (
        address.removesuffix(b"}"),
        b',"file":',
        chunked,
        b',"vectors":',
        vectors.model_dump_json().encode(),
    )
    return b"".join((*parts, b"}"))
