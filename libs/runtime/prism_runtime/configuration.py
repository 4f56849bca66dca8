"""The configuration file `prism.toml`: settings that the environment does not set.

A key is the name of a variable without `PRISM_`, in lower case: `log_level` is `PRISM_LOG_LEVEL`. The
environment takes precedence. `X_FILE` names a file that contains the secret `X`. This module imports nothing
heavy: the command line and every service read the file with it.
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PREFIX = "PRISM_"
PATH_VARIABLE = "PRISM_CONFIG"
FILE_NAME = "prism.toml"
SECRET_FILE = "_FILE"  # noqa: S105 - the end of a name
SECRET_BYTES_MAX = 64 * 1024

Values = dict[str, Any]


class ConfigurationError(ValueError):
    """The configuration file, or a file that it names, cannot be used."""

    def __init__(self, message: str, next_action: str) -> None:
        super().__init__(message)
        self.message = message
        self.next_action = next_action


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the path of the file: that of `PRISM_CONFIG`, else the one in the user's configuration folder."""
    chosen = environment.get(PATH_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_config_dir("prism", appauthor=False)) / FILE_NAME


def read_values(path: Path) -> Values:
    """Returns the keys and values of the file; none if it does not exist. Raises ConfigurationError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(
            f"{path} cannot be read: {reason}.", f"Make it readable, or set {PATH_VARIABLE} to another file."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not TOML: {error}.", "Correct that line.") from error


def place_of(path: Path, key: str) -> str:
    """Returns `path:line` of a key, for errors."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return str(path)
    found = re.search(rf'^[ \t]*\[*[ \t]*"?{re.escape(key)}\b', text, re.MULTILINE)
    return f"{path}:{text.count(chr(10), 0, found.start()) + 1}" if found else str(path)


def variable_of(key: str) -> str:
    """Returns the variable of a key."""
    return PREFIX + key.upper()


def key_of(variable: str) -> str:
    """Returns the key of a variable."""
    return variable.removeprefix(PREFIX).lower()


def as_variable(value: object) -> str:
    """Returns a value as the text of a variable; lists and tables as JSON. Raises TypeError."""
    if isinstance(value, str):
        return value
    return json.dumps(value)


def merged(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns the environment, with the file's values for what it does not set. Raises ConfigurationError."""
    path = config_path(environment)
    found = dict(environment)
    for key, value in read_values(path).items():
        variable = variable_of(key)
        if variable == PATH_VARIABLE or not _counterparts(variable).isdisjoint(environment):
            continue
        try:
            found[variable] = as_variable(value)
        except TypeError as error:
            raise ConfigurationError(
                f"{place_of(path, key)}: {key} is a date or a time.", "Write it as a text, in quotes."
            ) from error
    return found


def _counterparts(variable: str) -> frozenset[str]:
    """The names under which a setting may be given: as a value, and as the name of a file."""
    base = variable.removesuffix(SECRET_FILE)
    return frozenset({base, base + SECRET_FILE})


def with_secret(environment: Mapping[str, str], variable: str) -> str | None:
    """Returns a secret: its variable, or the text of the file that `<variable>_FILE` names; None without either.

    Raises ConfigurationError if both are set, or the file cannot be read.
    """
    value, path = environment.get(variable), environment.get(variable + SECRET_FILE)
    if not path:
        return value
    if value:
        raise ConfigurationError(f"{variable} and {variable}{SECRET_FILE} are both set.", "Set one of them.")
    try:
        with Path(path).expanduser().open("rb") as file:
            text = file.read(SECRET_BYTES_MAX + 1)
        if len(text) > SECRET_BYTES_MAX:
            raise ConfigurationError(f"{path} is too large for a secret.", f"Check {variable}{SECRET_FILE}.")
        return text.decode().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(
            f"{path}, named by {variable}{SECRET_FILE}, cannot be read: {reason}.",
            "Make the file readable for this process, or name another one.",
        ) from error
