"""Exit codes of `prism`, and the error that carries them."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes. The numbers are stable; the texts are for people and may change."""

    OK = 0
    FAILED = 1  # the command failed; `doctor` found a problem
    USAGE = 2  # invalid command line
    ALREADY_RUNNING = 3  # a stack already runs on this data folder
    INCOMPLETE = 4  # indexed, but some files failed
    NOT_RUNNING = 5  # Prism is not running
    PORT_IN_USE = 6  # another program listens on the port
    START_FAILED = 7  # a service of the stack did not become ready
    INTERRUPTED = 130  # Ctrl-C


EXIT_CODES_HELP = (
    "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 already running, 4 indexed but some files failed, "
    "5 not running, 6 port in use, 7 a service did not start, 130 interrupted."
)


class CommandError(Exception):
    """A command failed. `main` catches it and prints it as text or JSON, never as a traceback."""

    def __init__(
        self,
        message: str,
        next_action: str = "",
        *,
        code: str = "failed",
        exit_code: Exit = Exit.FAILED,
        details: dict[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.next_action = next_action
        self.code = code
        self.exit_code = exit_code
        self.details = details or {}

    def as_json(self) -> dict[str, object]:
        """Returns the error as `--json` prints it, in the shape of the server's error bodies."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "next_action": self.next_action,
                "details": self.details,
            }
        }
