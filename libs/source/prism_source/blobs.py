"""Reads blobs of a git repository through one long-lived `git cat-file --batch`."""

import os
import select
import subprocess
import threading
import time
from pathlib import Path

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.git import READ_LIMITS, isolated_environment, start_git, stop
from prism_source.limits import SourceLimits

_READ_BYTES = 64 * 1024
_HEADER_BYTES_MAX = 1_024


class BlobReader:
    """Reads blobs by hash, one at a time, for any number of threads. See snapshot.ContentReader."""

    def __init__(self, git_dir: Path, limits: SourceLimits) -> None:
        self._git_dir = git_dir
        self._limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()

    def read(self, file: SnapshotFile) -> bytes:
        """Returns the bytes of the file's blob."""
        return self.blob(file.blob)

    def blob(self, blob: str) -> bytes:
        """Returns the bytes of a blob.

        Raises PrismError FILE_NOT_FOUND, PAYLOAD_TOO_LARGE, SOURCE_UNREADABLE, DEADLINE_EXCEEDED.
        """
        with self._lock:
            try:
                return self._request(blob)
            except PrismError:
                # The process may be in the middle of a reply, so the next request starts a new process.
                self._stop()
                raise
            except OSError as error:
                self._stop()
                raise self._unreadable(str(error)) from error

    def close(self) -> None:
        """Kills the process."""
        with self._lock:
            self._stop()

    def _request(self, blob: str) -> bytes:
        process = self._running()
        assert process.stdin is not None
        deadline = time.monotonic() + self._limits.git_seconds_max
        process.stdin.write(f"{blob}\n".encode())
        process.stdin.flush()
        header = self._take_line(process, deadline).split(b" ")
        if len(header) != 3 or header[1] != b"blob":  # noqa: PLR2004 - `<hash> blob <size>`
            raise PrismError(
                ErrorCode.FILE_NOT_FOUND, f"The repository has no blob {blob}.", "Fetch the repository again."
            )
        size_bytes = int(header[2])
        if size_bytes > self._limits.file_bytes_max:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The blob {blob} has {size_bytes:,} bytes.",
                f"Read only blobs of up to {self._limits.file_bytes_max:,} bytes.",
            )
        return self._take(process, size_bytes + 1, deadline)[:-1]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            environment = {**isolated_environment(), "GIT_DIR": str(self._git_dir)}
            self._process = start_git(
                self._git_dir,
                "cat-file",
                "--batch",
                environment=environment,
                stderr=subprocess.DEVNULL,
                limits=READ_LIMITS,
            )
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            stop(self._process)
        self._process = None
        self._buffer.clear()

    def _take_line(self, process: subprocess.Popen[bytes], deadline: float) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > _HEADER_BYTES_MAX:
                raise self._unreadable("git cat-file returned an unexpected answer")
            self._fill(process, deadline)
        return self._take(process, end + 1, deadline)[:-1]

    def _take(self, process: subprocess.Popen[bytes], count: int, deadline: float) -> bytes:
        while len(self._buffer) < count:
            self._fill(process, deadline)
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        assert process.stdout is not None
        handle = process.stdout.fileno()
        ready, _, _ = select.select([handle], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise PrismError(
                ErrorCode.DEADLINE_EXCEEDED,
                f"git cat-file was stopped after {self._limits.git_seconds_max:g} seconds.",
                "Check the disk, and retry.",
            )
        data = os.read(handle, _READ_BYTES)
        if not data:
            raise self._unreadable("git cat-file ended")
        self._buffer += data

    def _unreadable(self, problem: str) -> PrismError:
        return PrismError(
            ErrorCode.SOURCE_UNREADABLE,
            f"The repository cannot be read: {problem}.",
            "Fetch the repository again.",
        )
