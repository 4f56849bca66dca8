"""The child process that builds graphs: an `Order` a line in on stdin, a `Built` or an error a line out on stdout, as JSON.

Building holds the interpreter and takes hundreds of megabytes, so it happens in a process of low priority, which ends
some time after its last order. It keeps what it knows of the repositories that it built last, and leaves it to the next
process in files: the next order of one of them reads what changed since, and looks again only at what that touches.
"""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import BinaryIO

import zstandard

from prism_atlas.adapters.disk_cache import DiskCache
from prism_atlas.adapters.state_assembler import StateAssembler
from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody, PrismError
from prism_runtime.child import end_with_parent, step_back
from prism_runtime.garbage import collect_rarely, release_heap
from prism_store.gate import connect
from prism_store.reader import Reader
from prism_store.scope import Scope
from prism_store.settings import StoreSettings

# Of numbers that are mapped, the next levels make a tenth less in twice the time.
ZSTD_LEVEL = 1
# While it compresses the process does nothing else: another thread halves what an edit waits for.
ZSTD_THREADS = 2
# Some 15 KB a file.
CACHE_BYTES_MAX = 1024 * 1024 * 1024
PACKED_SUFFIX = ".zst"


class BuildRequest(Message):
    """A graph to be built and written to `path`, and if it is to be stored, compressed beside it with PACKED_SUFFIX."""

    scope: Scope  # of one repository
    repo_name: str
    version: int  # of the import of the base that is served
    # Paths of the SCIP indexes of the base, packed, by the names of their objects.
    indexes: dict[str, str] = {}
    path: str
    is_stored: bool


class BuildResult(Message):
    """What was written."""

    files: int
    symbols: int
    edges: int
    size_bytes: int
    files_resolved: int  # files whose references were looked up
    seconds: float


class BuildReply(Message):
    """How an order ended: exactly one of the two is set."""

    built: BuildResult | None = None
    error: ErrorBody | None = None


def serve(runner: asyncio.Runner, cache_folder: Path, source: BinaryIO, sink: BinaryIO) -> None:
    """Carry out orders until the source ends, then put down what is known in the folder `shelf`."""
    client = connect(StoreSettings())
    assembler = StateAssembler(Reader(client), DiskCache(cache_folder, CACHE_BYTES_MAX))
    while line := source.readline():
        try:
            reply = BuildReply(built=build(runner, assembler, BuildRequest.model_validate_json(line)))
        except PrismError as error:
            reply = BuildReply(error=error.body)
        sink.write(reply.model_dump_json().encode() + b"\n")
        sink.flush()
        release_heap()  # it may wait long for the next order
    assembler.save_all()
    runner.run(client.close())


def build(runner: asyncio.Runner, assembler: StateAssembler, request: BuildRequest) -> BuildResult:
    """Bring the graph of a repository up to date, and write it."""
    began = time.monotonic()
    snapshot, files_resolved = runner.run(
        assembler.snapshot(request.scope, request.repo_name, request.version, request.indexes)
    )
    graph, path = snapshot.graph, Path(request.path)
    snapshot.write(path)
    if request.is_stored:
        _compress(path)
    return BuildResult(
        files=len(graph.files),
        symbols=len(graph.symbols),
        edges=len(graph.edges),
        size_bytes=path.stat().st_size,
        files_resolved=files_resolved,
        seconds=round(time.monotonic() - began, 3),
    )


def _compress(path: Path) -> None:
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, threads=ZSTD_THREADS)
    with path.open("rb") as source, path.with_suffix(PACKED_SUFFIX).open("wb") as target:
        compressor.copy_stream(source, target)


def main() -> None:
    """Take the real stdout for outcomes and give prints to stderr. The argument is the folder of the shelf."""
    end_with_parent()
    step_back()
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    collect_rarely()
    with asyncio.Runner() as runner:
        serve(runner, Path(sys.argv[1]), sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
