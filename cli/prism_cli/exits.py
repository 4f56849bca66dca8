"""How `prism` ends: one exit code for each thing a script may want to tell apart, and the error that carries it."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes. The numbers are the contract; the text beside them is for people and may change."""

    OK = 0
    FAILED = 1  # it was tried and did not work; `doctor` found something wrong
    USAGE = 2  # the command line makes no sense
    ALREADY_RUNNING = 3  # a stack runs on this data folder already
    INCOMPLETE = 4  # indexed, but some files failed
    NOT_RUNNING = 5  # no Prism answers
    PORT_IN_USE = 6  # another program listens on the port
    START_FAILED = 7  # a service of the stack did not become ready
    INTERRUPTED = 130  # Ctrl-C


EXIT_CODES_HELP = (
    "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 already running, 4 indexed but some files failed, "
    "5 not running, 6 port in use, 7 a service did not start, 130 interrupted."
)


class CommandError(Exception):
    """A command cannot go on. Caught once, in `main`, and shown as text or as JSON; never as a traceback."""

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
        """The error as `--json` prints it, in the shape of the server's error bodies."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "next_action": self.next_action,
                "details": self.details,
            }
        }
