"""`prism config`: shows and changes the configuration file. Comments and order of the file are kept."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
import typer
from rich.table import Table
from rich.text import Text

from prism_cli import environment, terminal
from prism_cli.config import check, known
from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import MODE_FOLDER, write_private
from prism_runtime import configuration
from prism_runtime.configuration import SECRET_FILE, ConfigurationError

MASK = "********"
DEFAULT = "default"
ENVIRONMENT = "environment"
STDIN = "-"


class Shown(NamedTuple):
    """A setting with its value, and where that comes from."""

    key: str
    value: str
    source: str
    meaning: str


def path() -> Path:
    """Returns the path of the file, whether it exists or not."""
    return configuration.config_path()


def get(key: str, *, reveal: bool) -> str:
    """Returns the value in effect: of the environment, else of the file, else the default. Secrets are masked."""
    setting = _setting(key)
    value, _ = _in_effect(setting, _merged())
    return value if reveal or not (setting.is_secret and value) else MASK


def show(*, everything: bool) -> list[Shown]:
    """Returns the settings that are set, or all."""
    merged = _merged()
    found = []
    for setting in known.settings().values():
        value, source = _in_effect(setting, merged)
        if everything or source != DEFAULT:
            masked = MASK if setting.is_secret and value and not source.endswith(SECRET_FILE) else value
            key = configuration.key_of(setting.variable)
            found.append(Shown(key, masked, source, str(setting.field.description)))
    return found


def set_value(key: str, value: str | None) -> list[str]:
    """Set a key in the file. Returns notes for the user. Raises CommandError, and then changes nothing.

    Without a value it is read from standard input, or asked for.
    """
    setting = _setting(key)
    if value is None or value == STDIN:
        value = _read(key, is_secret=setting.is_secret)
    document = _document()
    document[key] = _toml(setting, key, value)
    _write(tomlkit.dumps(document))
    return list(_notes(setting))


def unset(key: str) -> bool:
    """Remove a key from the file. False if it was not there."""
    document = _document()
    if key not in document:
        _setting(key)
        return False
    del document[key]
    _write(tomlkit.dumps(document), checked=False)
    return True


def print_shown(shown: list[Shown]) -> None:
    """Print settings as a table."""
    if not shown:
        terminal.out.print("Nothing is set. `prism config list --all` shows every setting.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("key", "value", "source"):
        table.add_column(column, header_style="dim", overflow="fold")
    for one in shown:
        style = "dim" if one.source == DEFAULT else "default"
        table.add_row(*(Text(terminal.printable(cell), style=style) for cell in one[:3]))
    terminal.out.print(table)


def as_json(shown: list[Shown]) -> list[dict[str, str]]:
    """Returns the output of `--json`."""
    return [one._asdict() for one in shown]


def _setting(key: str) -> known.Setting:
    every = known.settings()
    variable = configuration.variable_of(key)
    setting = every.get(variable)
    if setting is None and variable.endswith(SECRET_FILE):
        secret = every.get(variable.removesuffix(SECRET_FILE))
        setting = secret._replace(variable=variable) if secret and secret.is_secret else None
    if setting is None or key != key.lower():
        lower = key.lower().removeprefix(configuration.PREFIX.lower())
        near = check.near_key(lower)
        raise CommandError(
            f"There is no setting {key!r}.",
            f"Did you mean {near}?" if near else "`prism config list --all` shows every setting.",
            code="setting_unknown",
            exit_code=Exit.USAGE,
        )
    return setting


def _merged() -> dict[str, str]:
    try:
        return configuration.merged(environment.given())
    except ConfigurationError as error:
        raise environment.invalid(error) from error


def _in_effect(setting: known.Setting, merged: dict[str, str]) -> tuple[str, str]:
    for variable in (setting.variable, setting.variable + SECRET_FILE):
        if variable not in merged:
            continue
        is_given = variable in environment.given()
        source = ENVIRONMENT if is_given else configuration.place_of(path(), configuration.key_of(variable))
        if variable != setting.variable:
            return merged[variable], f"{source} {SECRET_FILE}"
        return merged[variable], source
    return setting.default, DEFAULT


def _read(key: str, *, is_secret: bool) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.read().rstrip("\r\n")
    answer: str = typer.prompt(key, hide_input=is_secret)
    return answer


def _document() -> tomlkit.TOMLDocument:
    try:
        configuration.read_values(path())
    except ConfigurationError as error:
        raise environment.invalid(error) from error
    return tomlkit.parse(path().read_text(encoding="utf-8") if path().exists() else "")


def _toml(setting: known.Setting, key: str, value: str) -> Any:
    """Returns the value with the type of the setting, so that the file reads well."""
    kind = setting.field.annotation
    try:
        if kind is bool and value.lower() in {"true", "false"}:
            return value.lower() == "true"
        if kind in {int, float} and kind is not None:
            return kind(value)
        if not check.is_text(setting) and not key.endswith(SECRET_FILE.lower()):
            return tomlkit.item(json.loads(value))
    except ValueError:
        pass  # the check explains what the setting takes
    return value


def _write(text: str, *, checked: bool = True) -> None:
    folder = path().parent
    try:
        folder.mkdir(mode=MODE_FOLDER, parents=True, exist_ok=True)
        trial = folder / f".{path().name}.{os.getpid()}.new"
        write_private(trial, text if text.endswith("\n") or not text else f"{text}\n")
        try:
            found = check.problems(trial) if checked else []
            if found:
                raise CommandError(
                    "\n".join(found).replace(str(trial), str(path())),
                    "The file is unchanged.",
                    code="setting_invalid",
                    exit_code=Exit.USAGE,
                )
            trial.replace(path())
        finally:
            trial.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(
            f"{path()} cannot be written: {error.strerror or error}.",
            f"Make its folder writable, or set {configuration.PATH_VARIABLE} to another file.",
            code="setting_invalid",
        ) from error


def _notes(setting: known.Setting) -> Iterator[str]:
    if setting.variable in environment.given():
        yield f"{setting.variable} in the environment takes precedence."
    if setting.variable in known.SET_BY_UP:
        yield "`prism up` chooses this itself: the value is for services that you start yourself."
    elif setting.part != known.PARTS[0].title:
        yield "It takes effect when Prism is started again: `prism down`, then `prism up --detach`."
