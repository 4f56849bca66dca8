"""The child process that parses: frames of `FileChanged` on stdin, frames of `FileChunked` on stdout.

Grammars are third-party C code: a loop or a crash ends only this process. Messages stay whole, so that the
parent forwards bytes and never decodes them. A frame is a 4-byte big-endian length and the body.
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
    """Answer frames until the input ends."""
    while header := source.read(FRAME.size):
        event = FileChanged.model_validate_json(source.read(FRAME.unpack(header)[0]))
        body = chunk_event(event).model_dump_json().encode()
        sink.write(FRAME.pack(len(body)) + body)
        sink.flush()


def main() -> None:
    """Reserve the real stdout for frames, and redirect prints to stderr."""
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    collect_rarely()
    serve(sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
