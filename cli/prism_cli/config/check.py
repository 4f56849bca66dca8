"""Validation of a configuration file: unknown keys, and values that a service would refuse.

`python -m prism_cli.config.check` prints the problems of the file as JSON, for `prism up`: the supervisor, which
stays resident, does not import the settings of all services.
"""

import difflib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prism_cli.config import known
from prism_runtime import configuration
from prism_runtime.configuration import SECRET_FILE, ConfigurationError
from prism_runtime.settings import InvalidSettingsError, Problem


def problems(path: Path) -> list[str]:
    """Returns what is wrong with the file, one sentence each with file and line."""
    try:
        values = configuration.read_values(path)
    except ConfigurationError as error:
        return [f"{error.message} {error.next_action}"]
    variables = {configuration.variable_of(key): key for key in values}
    found = [_unknown(path, key) for variable, key in variables.items() if not _is_known(variable)]
    found += list(_unusable(path, values))
    return found or list(_refused(path, variables))


def _is_known(variable: str) -> bool:
    every = known.settings()
    base = every.get(variable.removesuffix(SECRET_FILE))
    return variable in every or (base is not None and base.is_secret)


def _unknown(path: Path, key: str) -> str:
    near = near_key(key)
    hint = f"Did you mean {near}?" if near else "`prism config list --all` shows every setting."
    return f"{configuration.place_of(path, key)}: There is no setting {key}. {hint}"


def near_key(key: str) -> str:
    """Returns the key of a setting that is written like this one; empty if there is none."""
    keys = [configuration.key_of(variable) for variable in known.settings()]
    return next(iter([key] if key in keys else difflib.get_close_matches(key, keys, n=1)), "")


def _unusable(path: Path, values: dict[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        setting = known.settings().get(configuration.variable_of(key))
        if isinstance(value, list | dict) and setting and is_text(setting):
            yield f'{configuration.place_of(path, key)}: {key} is a text: write "a,b" instead of a list or table.'
        try:
            configuration.as_variable(value)
        except TypeError:
            yield f"{configuration.place_of(path, key)}: {key} is a date or a time. Write it as a text, in quotes."


def is_text(setting: known.Setting) -> bool:
    """Whether a setting is one value, not a list or a table."""
    return setting.is_secret or setting.field.annotation in {str, int, float, bool, Path}


def _refused(path: Path, variables: dict[str, str]) -> Iterator[str]:
    """Read each class of settings as its services do, and report what concerns the file."""
    told: set[str] = set()
    with _environment_of(path):
        for problem in _problems_of_services():
            key = variables.get(problem.variable) or variables.get(problem.variable + SECRET_FILE)
            text = (
                f"{configuration.place_of(path, key)}: {key}: {problem.message}." if key else problem.message
            )
            is_of_file = key is not None and not _is_overridden(problem.variable)
            if (is_of_file or not problem.variable) and text not in told:
                told.add(text)
                yield text


@contextmanager
def _environment_of(path: Path) -> Iterator[None]:
    """Select the file, and set what `prism up` sets and other settings need."""
    before = dict(os.environ)
    os.environ[configuration.PATH_VARIABLE] = str(path)
    os.environ.setdefault("PRISM_PUBLIC_URL", "http://127.0.0.1")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _problems_of_services() -> Iterator[Problem]:
    for part in known.PARTS:
        try:
            part.settings()()
        except InvalidSettingsError as error:
            yield from error.problems


def _is_overridden(variable: str) -> bool:
    return variable in os.environ or variable + SECRET_FILE in os.environ


def main() -> None:
    """Print the problems of the file that `PRISM_CONFIG` or the user's folder provides."""
    json.dump(problems(configuration.config_path()), sys.stdout)


if __name__ == "__main__":
    main()
