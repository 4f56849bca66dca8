"""The child process that parses: frames of `FileChanged` in on stdin, frames of `FileChunked` out on stdout.

Grammars are C code that other people wrote: one may loop or crash, and takes only this process with it. Whole
messages go through, so that the parent passes bytes on and never reads them. A frame is a 4-byte big-endian
length and so many bytes.
"""

import os
import struct
import sys
from typing import BinaryIO

from prism_chunker.conversion import chunk_event
from prism_contracts.events import FileChanged
from prism_runtime.garbage import collect_rarely

FRAME = struct.Struct(">I")


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer frames until the source ends."""
    while header := source.read(FRAME.size):
        event = FileChanged.model_validate_json(source.read(FRAME.unpack(header)[0]))
        body = chunk_event(event).model_dump_json().encode()
        sink.write(FRAME.pack(len(body)) + body)
        sink.flush()


def main() -> None:
    """Take the real stdout for frames and give prints to stderr."""
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    collect_rarely()
    serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
