"""zstd compression (RFC 8878), in frames that declare their length."""

import threading

import zstandard

LEVEL = 1


class _Contexts(threading.local):
    """A context per thread: creating one costs more than compressing the symbols of a file, and threads
    cannot share one.
    """

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()


def compress(data: bytes) -> bytes:
    """Returns data as a frame."""
    return _contexts.compressor.compress(data)


def decompress(frame: bytes, bytes_max: int) -> bytes:
    """Returns the data of a frame.

    Raises ValueError, before it allocates memory, if the frame is damaged, declares more than `bytes_max`, or
    no length.
    """
    try:
        if zstandard.get_frame_parameters(frame).content_size > bytes_max:
            raise ValueError(f"it exceeds {bytes_max} bytes, or does not declare its length")
        return _contexts.decompressor.decompress(frame)
    except zstandard.ZstdError as error:
        raise ValueError(f"it is damaged: {error}") from error
