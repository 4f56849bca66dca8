"""`python -m prism_cli.stack.daemon DATA_DIR PORT NOTES_FD`: a supervisor without a terminal.

Writes events to NOTES_FD as JSON lines until the reader closes it; nowhere if it is `-`. The last line before
an unexpected end is `{"kind": "failed", "exit": N, "error": {…}}`.
"""

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import DataDir
from prism_cli.stack.supervisor import Note, Supervisor

NOWHERE = "-"
# The stack was up and stopped without a request: guard.sh starts it again.
EXIT_CRASHED = 70
LISTENERS_GONE = (BrokenPipeError, OSError)


class Pipe:
    """Writes one JSON object per line, until the reader is gone."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle

    def send(self, value: dict[str, Any]) -> None:
        if self._handle is None:
            return
        try:
            os.write(self._handle, json.dumps(value).encode() + b"\n")
        except LISTENERS_GONE:
            os.close(self._handle)
            self._handle = None


def main(arguments: list[str]) -> int:
    """Supervise until a signal. Returns the exit code."""
    folder, port, handle = arguments
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    pipe = Pipe(None if handle == NOWHERE else _own(int(handle)))

    was_up = False

    def report(note: Note) -> None:
        nonlocal was_up
        was_up |= note.kind == "up"
        pipe.send(note._asdict())

    try:
        Supervisor(DataDir(Path(folder)), int(port), report).run()
    except CommandError as error:
        pipe.send({"kind": "failed", "exit": int(error.exit_code), **error.as_json()})
        return EXIT_CRASHED if was_up else int(error.exit_code)
    except Exception:
        if not was_up:
            raise
        traceback.print_exc()
        return EXIT_CRASHED
    return int(Exit.OK)


def _own(handle: int) -> int:
    """Returns the same pipe under a number that no child inherits, and that no stray print reaches."""
    own = os.dup(handle)
    os.dup2(2, handle)
    return own


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
