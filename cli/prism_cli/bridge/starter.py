"""The start of the local stack by `prism mcp --start`, beside the client's first requests."""

import sys
import threading

from prism_cli.exits import CommandError, Exit
from prism_cli.stack.launch import start_in_background
from prism_cli.stack.layout import DataDir
from prism_cli.stack.supervisor import Note
from prism_cli.target import ServerTarget, find_target

# A stack starts within some ten seconds; a slow disk needs longer.
START_PATIENCE_S = 60.0


class Starter:
    """Starts a stack unless one runs, and finds it."""

    def __init__(self, data: DataDir, port: int) -> None:
        self._data = data
        self._port = port
        self._failure: CommandError | None = None

    def begin(self) -> None:
        """Start in the background. The stack outlives this process."""
        threading.Thread(target=self._start, daemon=True).start()

    def find(self) -> ServerTarget:
        """Returns the address of the stack. Raises the reason if it did not start."""
        try:
            return find_target()
        except CommandError:
            if self._failure:
                raise self._failure from None
            raise

    def _start(self) -> None:
        try:
            start_in_background(self._data, self._port, _report)
        except CommandError as error:
            if error.exit_code is not Exit.ALREADY_RUNNING:
                self._failure = error
                print(f"prism: {error.message} {error.next_action}", file=sys.stderr)  # noqa: T201


def _report(note: Note) -> None:
    print(f"prism: {note.text}", file=sys.stderr)  # noqa: T201 - the client's log of this command
