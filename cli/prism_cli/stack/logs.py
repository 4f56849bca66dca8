"""Log files of the stack: appended by the processes, limited in size by copy and truncate."""

import contextlib
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

LOG_BYTES_MAX = 20 * 1024 * 1024
TAIL_BYTES_MAX = 16 * 1024
# The last lines of a log are looked for in this many bytes of its end, then in four times as many, to the maximum.
WINDOW_BYTES = 64 * 1024
WINDOW_BYTES_MAX = 16 * 1024 * 1024
WINDOW_GROWTH = 4


class LogFile:
    """A log and the part of it that `rotate` moved away, read to its end and then as it grows."""

    def __init__(self, path: Path, *, is_new: bool = False) -> None:
        """Start reading at the end, or at the first line if the log `is_new`."""
        self._path = path
        self._position = 0 if is_new else _size(path)
        self._begun = b""

    def last(self, count: int) -> list[str]:
        """Returns up to so many lines before the position at which reading started."""
        lines = _last_lines(self._path, self._position, count)
        if len(lines) < count:
            rotated = _rotated(self._path)
            lines = _last_lines(rotated, _size(rotated), count - len(lines)) + lines
        return lines

    def appended(self) -> list[str]:
        """Returns the complete lines since the last call, across a rotation.

        Reads a log that grew beyond its old size between its rotation and this call from there: then the lines
        before are left out. At 20 MiB in a quarter of a second that does not happen.
        """
        rest = b""
        if _size(self._path) < self._position:
            rest = _read(_rotated(self._path), self._position)
            self._position = 0
        grown = _read(self._path, self._position)
        self._position += len(grown)
        *lines, self._begun = (self._begun + rest + grown).split(b"\n")
        return _decoded(lines)

    def written_at(self) -> datetime:
        """Returns the time of the last write, in UTC."""
        try:
            return datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
        except OSError:
            return datetime.now(UTC)


def rotate(path: Path, bytes_max: int = LOG_BYTES_MAX) -> None:
    """Move a log that has grown too large to `<log>.1`, and truncate it. Its writer appends, so it need not
    know.

    Without disk space for the copy the log stays as it is: the next call retries.
    """
    with contextlib.suppress(OSError):
        if path.exists() and path.stat().st_size > bytes_max:
            shutil.copyfile(path, _rotated(path))
            os.truncate(path, 0)


def tail(path: Path, lines: int) -> list[str]:
    """Returns the last lines of a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES_MAX))
            return file.read().decode(errors="replace").splitlines()[-lines:]
    except OSError:
        return []


def _rotated(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _read(path: Path, start: int, end: int | None = None) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(-1 if end is None else end - start)
    except OSError:
        return b""


def _last_lines(path: Path, end: int, count: int) -> list[str]:
    if count <= 0:
        return []
    window = WINDOW_BYTES
    while True:
        start = max(0, end - window)
        text = _read(path, start, end)
        if start == 0 or text.count(b"\n") > count or window >= WINDOW_BYTES_MAX:
            break
        window *= WINDOW_GROWTH
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    # The window begins within a line.
    return _decoded((lines[1:] if start else lines)[-count:])


def _decoded(lines: list[bytes]) -> list[str]:
    return [line.decode(errors="replace") for line in lines]
