"""A chunked file as an embedded one. Its symbols and references go through as the bytes that they came as."""

from prism_contracts.base import Message
from prism_contracts.events import FileEvent, Vectors

_ADDRESS = set(FileEvent.model_fields)


class ChunkText(Message):
    """What is embedded of a `Chunk`."""

    text: str


class ChunkTexts(FileEvent):
    """What is embedded of a `FileChunked`."""

    chunks: tuple[ChunkText, ...]


def embedded_body(event: ChunkTexts, chunked: bytes, vectors: Vectors) -> bytes:
    """The JSON of a `FileEmbedded`. `chunked` is that of the `FileChunked` which `event` was read from."""
    address = event.model_dump_json(include=_ADDRESS).encode()
    parts = (
        address.removesuffix(b"}"),
        b',"file":',
        chunked,
        b',"vectors":',
        vectors.model_dump_json().encode(),
    )
    return b"".join((*parts, b"}"))
