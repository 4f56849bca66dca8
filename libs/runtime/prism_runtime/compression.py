"""zstd (RFC 8878), as everything here is compressed: frames that say their length."""

import threading

import zstandard

LEVEL = 1


class _Contexts(threading.local):
    """Making a context costs more than compressing a file's symbols; one must not be used by two threads at once."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()


def compress(data: bytes) -> bytes:
    """A frame."""
    return _contexts.compressor.compress(data)


def decompress(frame: bytes, bytes_max: int) -> bytes:
    """What is in a frame. Raises ValueError if that is damaged, longer than `bytes_max`, or does not say its length: before
    room is made for it.
    """
    try:
        if zstandard.get_frame_parameters(frame).content_size > bytes_max:
            raise ValueError(f"it exceeds {bytes_max} bytes, or does not declare its length")
        return _contexts.decompressor.decompress(frame)
    except zstandard.ZstdError as error:
        raise ValueError(f"it is damaged: {error}") from error
