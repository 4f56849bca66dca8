"""`python -m prism_cli.stack.daemon DATA_DIR PORT NOTES_FD`: a supervisor without a terminal.

What happens is written to NOTES_FD as JSON lines until somebody stops reading. The last line before an end
that was not asked for is `{"kind": "failed", "exit": N, "error": {…}}`.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import DataDir
from prism_cli.stack.supervisor import Note, Supervisor

LISTENERS_GONE = (BrokenPipeError, OSError)


class Pipe:
    """One JSON object a line; deaf once the reader is gone."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def send(self, value: dict[str, Any]) -> None:
        if self._handle is None:
            return
        try:
            os.write(self._handle, json.dumps(value).encode() + b"\n")
        except LISTENERS_GONE:
            os.close(self._handle)
            self._handle = None


def main(arguments: list[str]) -> int:
    """Supervise until told to stop; the exit code says how it went."""
    folder, port, handle = arguments
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    pipe = Pipe(int(handle))

    def report(note: Note) -> None:
        pipe.send(note._asdict())

    try:
        Supervisor(DataDir(Path(folder)), int(port), report).run()
    except CommandError as error:
        pipe.send({"kind": "failed", "exit": int(error.exit_code), **error.as_json()})
        return int(error.exit_code)
    return int(Exit.OK)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
