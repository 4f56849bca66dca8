"""Log files of the stack: appended by the processes, limited in size by copy and truncate."""

import contextlib
import os
import shutil
from pathlib import Path

LOG_BYTES_MAX = 20 * 1024 * 1024
TAIL_BYTES_MAX = 16 * 1024


def rotate(path: Path, bytes_max: int = LOG_BYTES_MAX) -> None:
    """Move a log that has grown too large to `<log>.1`, and truncate it. Its writer appends, so it need not
    know.

    Without disk space for the copy the log stays as it is: the next call retries.
    """
    with contextlib.suppress(OSError):
        if path.exists() and path.stat().st_size > bytes_max:
            shutil.copyfile(path, path.with_name(f"{path.name}.1"))
            os.truncate(path, 0)


def tail(path: Path, lines: int) -> list[str]:
    """Returns the last lines of a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES_MAX))
            return file.read().decode(errors="replace").splitlines()[-lines:]
    except OSError:
        return []
