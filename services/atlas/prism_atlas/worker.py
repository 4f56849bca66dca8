"""The child process that builds graphs: a line of JSON in per request, one out per reply.

A build holds the interpreter and takes hundreds of megabytes, so it runs in a process of low priority, which
ends some time after its last request. The process caches the state of the repositories that it built most
recently, and saves it to files for the next process: the next build of such a repository reads only what
changed since, and resolves only the files that the change affects.
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

# Higher levels shrink numeric columns by another tenth and take twice as long.
ZSTD_LEVEL = 1
# The process does nothing else while it compresses; a second thread halves the wait after an edit.
ZSTD_THREADS = 2
# About 15 KB per file.
CACHE_BYTES_MAX = 1024 * 1024 * 1024
PACKED_SUFFIX = ".zst"


class BuildRequest(Message):
    """A graph to build and write to `path`; a stored one is also compressed beside it, with PACKED_SUFFIX."""

    scope: Scope  # one repository
    repo_name: str
    version: int  # the served import of the base
    # Paths of the base's packed SCIP indexes, by object name.
    indexes: dict[str, str] = {}
    path: str
    is_stored: bool


class BuildResult(Message):
    """Figures of a finished build."""

    files: int
    symbols: int
    edges: int
    size_bytes: int
    files_resolved: int  # files whose references were resolved
    seconds: float

    @property
    def line(self) -> dict[str, int | float]:
        """The fields of its line in the log."""
        return {
            "files": self.files,
            "files_resolved": self.files_resolved,
            "edges": self.edges,
            "bytes": self.size_bytes,
            "seconds": round(self.seconds, 2),
        }


class BuildReply(Message):
    """The result of a request: exactly one field is set."""

    built: BuildResult | None = None
    error: ErrorBody | None = None


def serve(runner: asyncio.Runner, cache_folder: Path, source: BinaryIO, sink: BinaryIO) -> None:
    """Handle requests until the input ends, then save all states in `cache_folder`."""
    client = connect(StoreSettings())
    assembler = StateAssembler(Reader(client), DiskCache(cache_folder, CACHE_BYTES_MAX))
    while line := source.readline():
        try:
            reply = BuildReply(built=build(runner, assembler, BuildRequest.model_validate_json(line)))
        except PrismError as error:
            reply = BuildReply(error=error.body)
        sink.write(reply.model_dump_json().encode() + b"\n")
        sink.flush()
        release_heap()  # the next request may be far off
    assembler.save_all()
    runner.run(client.close())


def build(runner: asyncio.Runner, assembler: StateAssembler, request: BuildRequest) -> BuildResult:
    """Update the graph of a repository and write it."""
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
    """Write replies to the real stdout and redirect prints to stderr. The argument is the cache folder."""
    end_with_parent()
    step_back()
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    collect_rarely()
    with asyncio.Runner() as runner:
        serve(runner, Path(sys.argv[1]), sys.stdin.buffer, sink)


if __name__ == "__main__":
    main()
