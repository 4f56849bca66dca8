"""The environment of a command: the variables of the process, and below them the values of `prism.toml`."""

import os

from prism_cli.exits import CommandError, Exit
from prism_runtime import configuration
from prism_runtime.configuration import ConfigurationError

_given: dict[str, str] = {}


def merge_configuration() -> None:
    """Set the variables that the environment does not set and the file does. Processes of `prism up` inherit them.

    Raises CommandError.
    """
    _given.update(os.environ)
    try:
        os.environ.update(configuration.merged(_given))
    except ConfigurationError as error:
        raise invalid(error) from error


def given() -> dict[str, str]:
    """Returns the environment without the values of the file."""
    return _given or dict(os.environ)


def secret(variable: str) -> str:
    """Returns a secret from the environment or the file that it names; empty if there is none. Raises CommandError."""
    try:
        return configuration.with_secret(os.environ, variable) or ""
    except ConfigurationError as error:
        raise invalid(error) from error


def invalid(error: ConfigurationError) -> CommandError:
    """Returns the error as that of a command."""
    return CommandError(error.message, error.next_action, code="setting_invalid", exit_code=Exit.USAGE)
