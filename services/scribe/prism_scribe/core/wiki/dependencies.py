"""Reads which packages a manifest depends on directly, with the line of each."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

DEPENDENCIES_MAX = 200
COLUMNS_MAX = 2_000

_GO = re.compile(r"^\s*(?:require\s+)?(?P<name>[\w.-]+\.[\w.-]+/\S+)\s+v\d")
_PACKAGE = re.compile(r"^[A-Za-z0-9@][\w@./-]*")


class Dependency(NamedTuple):
    """A package, as its registry names it, and the line that declares it."""

    name: str
    line: int


def depended_on(path: str, lines: Sequence[str]) -> list[Dependency]:
    """Returns the direct dependencies that a manifest of the root declares, without those of development.

    An unreadable manifest has none.
    """
    read = _READERS.get(path)
    if read is None:
        return []
    try:
        return list(read([line[:COLUMNS_MAX] for line in lines]))[:DEPENDENCIES_MAX]
    except (ValueError, RecursionError):  # both parsers raise these
        return []


def _go(lines: Sequence[str]) -> Iterator[Dependency]:
    for number, line in enumerate(lines, start=1):
        found = _GO.match(line)
        if found and "// indirect" not in line:
            yield Dependency(found["name"], number)


def _cargo(lines: Sequence[str]) -> Iterator[Dependency]:
    manifest = tomllib.loads("\n".join(lines))
    workspace = manifest.get("workspace")
    for table in (manifest, workspace if isinstance(workspace, dict) else {}):
        yield from _found(lines, _keys(table, "dependencies"))


def _npm(lines: Sequence[str]) -> Iterator[Dependency]:
    manifest = json.loads("\n".join(lines))
    if isinstance(manifest, dict):
        yield from _found(lines, [*_keys(manifest, "dependencies"), *_keys(manifest, "peerDependencies")])


def _python(lines: Sequence[str]) -> Iterator[Dependency]:
    project = tomllib.loads("\n".join(lines)).get("project")
    declared = project.get("dependencies") if isinstance(project, dict) else None
    names = [_PACKAGE.match(str(one)) for one in declared] if isinstance(declared, list) else []
    yield from _found(lines, [name[0] for name in names if name])


def _keys(table: Mapping[str, Any], name: str) -> list[str]:
    found = table.get(name)
    return list(found) if isinstance(found, dict) else []


def _found(lines: Sequence[str], names: Sequence[str]) -> Iterator[Dependency]:
    for name in names:
        pattern = re.compile(rf'(?:^|["\'\s,\[]){re.escape(name)}(?![\w-])')
        line = next((number for number, text in enumerate(lines, start=1) if pattern.search(text)), 1)
        yield Dependency(name, line)


_READERS: Mapping[str, Callable[[Sequence[str]], Iterator[Dependency]]] = {
    "go.mod": _go,
    "Cargo.toml": _cargo,
    "package.json": _npm,
    "pyproject.toml": _python,
}
