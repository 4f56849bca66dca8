"""One supervisor per data folder: a lock that the system releases however its holder dies.

It locks two things: `up.lock`, which holds the process id of the holder, and the folder itself. The file can
be deleted while a stack runs; the folder that NATS and the store have open cannot be replaced.
"""

import contextlib
import errno
import fcntl
import json
import os
import time
from pathlib import Path

# A check of the lock takes it for an instant; a supervisor that starts at that moment waits this long.
TAKE_SECONDS_MAX = 0.5
PAUSE_S = 0.02
MODE_FILE = 0o600
UNSUPPORTED = {errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.ENOLCK}


class UpLock:
    """The lock of a running supervisor. Children do not inherit it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handles: list[int] = []

    def take(self) -> bool:
        """Hold the lock until `release` or the end of the process. False if another process holds it."""
        deadline = time.monotonic() + TAKE_SECONDS_MAX
        for path in (self._path.parent, self._path):
            self._handles.append(_open(path))
            while not _try_lock(self._handles[-1], fcntl.LOCK_EX):
                if time.monotonic() > deadline:
                    self.release()
                    return False
                time.sleep(PAUSE_S)
        os.truncate(self._handles[-1], 0)
        os.write(self._handles[-1], json.dumps({"pid": os.getpid()}).encode())
        return True

    def release(self) -> None:
        """Release the lock."""
        for handle in self._handles:
            os.close(handle)
        self._handles = []


def holder(path: Path) -> int | None:
    """Returns the process id of the supervisor that holds the lock; None without a holder, 0 if it is not
    written yet.
    """
    locked = [_is_locked(path), _is_locked(path.parent)]
    if not any(locked):
        return None
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads(path.read_text())["pid"])
    return _pid_in_state(path) or 0


def _pid_in_state(path: Path) -> int:
    """Returns the supervisor whose lock file was deleted."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads((path.parent / "run" / "supervisor.json").read_text())["pid"])
    return 0


def _open(path: Path) -> int:
    if path.is_dir():
        return os.open(path, os.O_RDONLY)
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, MODE_FILE)


def _is_locked(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_lock(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def _try_lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        # Some network file systems cannot lock folders; there the file lock must do.
        return error.errno in UNSUPPORTED
    return True
