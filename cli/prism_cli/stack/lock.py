"""One supervisor a data folder: a file lock that the system lets go of when its holder dies, however it dies."""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import IO

# A look at the lock takes it for an instant; a supervisor that comes just then waits that long.
TAKE_SECONDS_MAX = 0.5
PAUSE_S = 0.02


class UpLock:
    """The lock of a running supervisor. Children do not inherit it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def take(self) -> bool:
        """Hold the lock until `release` or the end of the process. False if someone else holds it."""
        deadline = time.monotonic() + TAKE_SECONDS_MAX
        file = self._path.open("a+")
        while not _try_lock(file, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                file.close()
                return False
            time.sleep(PAUSE_S)
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid()}))
        file.flush()
        self._file = file
        return True

    def release(self) -> None:
        """Let go."""
        if self._file:
            self._file.close()
            self._file = None


def holder(path: Path) -> int | None:
    """The process id of the supervisor that holds the lock; None if nobody does."""
    try:
        file = path.open()
    except OSError:
        return None
    with file:
        if _try_lock(file, fcntl.LOCK_SH):
            return None
        try:
            return int(json.loads(file.read())["pid"])
        except (ValueError, KeyError):  # taken this instant, not yet written
            return 0


def _try_lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
