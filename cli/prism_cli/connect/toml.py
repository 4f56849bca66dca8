"""Changes one table in a text of TOML, and keeps comments and order."""

import tomllib
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, InlineTable

from prism_cli.connect.jsonc import UneditableError


def decode(text: str) -> dict[str, Any]:
    """Returns the value of a text. Raises UneditableError."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UneditableError(str(error)) from error


def with_table(text: str, section: str, name: str, table: dict[str, Any]) -> str:
    """Returns the text with the table `[section.name]`. Raises UneditableError."""
    wanted = decode(text)
    tables = wanted.setdefault(section, {})
    if not isinstance(tables, dict):
        raise UneditableError(f"{section} is not a table")
    tables[name] = table
    try:
        edited = _edited(text, section, name, table)
    except TOMLKitError as error:
        raise UneditableError(str(error)) from error
    if decode(edited) != wanted:
        raise UneditableError("its form is unusual")
    return edited


def _edited(text: str, section: str, name: str, table: dict[str, Any]) -> str:
    document = tomlkit.parse(text)
    tables = document.setdefault(section, tomlkit.table(is_super_table=True))
    found = tables.get(name)
    if isinstance(found, AbstractTable):
        for key in found.keys() - table.keys():
            found.remove(key)
        for key, value in table.items():
            if found.get(key) != value:
                found[key] = _item(value)
    elif isinstance(tables, InlineTable):
        tables[name] = _item(table)
    else:
        made = tomlkit.table()
        for key, value in table.items():
            made.add(key, _item(value))
        if [*document][-1] != section:
            made.add(tomlkit.nl())
        tables[name] = made
    return tomlkit.dumps(document)


def _item(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    made = tomlkit.inline_table()
    made.update({key: _item(inner) for key, inner in value.items()})
    return made
