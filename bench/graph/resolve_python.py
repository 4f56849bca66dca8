"""Resolves names in a Python repository by jedi: `python resolve_python.py FOLDER USES_MAX SEED < PATHS`.

Runs in its own environment, so it imports nothing but jedi. `truth.py` defines the output. Resolves every use of a
name of the repository's functions and classes, and of their import aliases. If there are more than USES_MAX, whole
files are drawn at random.
"""

import ast
import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jedi  # type: ignore[import-not-found, unused-ignore]

# Folders in which a repository keeps its packages.
ROOTS = ("", "src", "lib", "python")
KINDS = {"function": "function", "property": "function", "class": "class"}


class Name(NamedTuple):
    """A use of a name: its 1-based line, 0-based column in characters, kind of use, and leftmost name."""

    name: str
    line: int
    column: int
    kind: str
    root: str


class Source(NamedTuple):
    """A file that parses."""

    path: str  # relative to the folder
    text: str
    tree: ast.Module


def main() -> None:
    """Print the meaning of every use."""
    folder, uses_max, seed = Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    sources = list(_sources(folder))
    properties = set(_properties(sources))
    wanted = _wanted_names(sources)
    random.Random(seed).shuffle(sources)
    project = jedi.Project(folder, added_sys_path=[str(folder / root) for root in ROOTS])
    files: list[str] = []
    uses: list[dict[str, Any]] = []
    for source in sources:
        if len(uses) >= uses_max:
            break
        files.append(source.path)
        uses += _Resolver(project, folder, source, properties).uses(wanted)
    json.dump({"resolver": f"jedi {jedi.__version__}", "files": sorted(files), "uses": uses}, sys.stdout)


def _sources(folder: Path) -> Iterator[Source]:
    for path in sys.stdin.read().splitlines():
        try:
            text = (folder / path).read_text()
            yield Source(path, text, ast.parse(text))
        except (SyntaxError, UnicodeDecodeError):
            continue  # Python cannot read it either


def _properties(sources: Iterable[Source]) -> Iterator[str]:
    """Returns names of attributes that a function computes."""
    for node in (node for source in sources for node in ast.walk(source.tree)):
        if isinstance(node, ast.FunctionDef) and any(
            "property" in ast.dump(one) for one in node.decorator_list
        ):
            yield node.name


def _wanted_names(sources: Iterable[Source]) -> set[str]:
    """Returns all defined names, and the aliases of imports."""
    nodes = [node for source in sources for node in ast.walk(source.tree)]
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name for node in nodes if isinstance(node, definitions)}
    renamed = {
        alias.asname
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname and alias.name in defined
    }
    return defined | renamed


class _Resolver:
    """Asks jedi about one file."""

    def __init__(self, project: jedi.Project, folder: Path, source: Source, properties: set[str]) -> None:
        self._folder = folder
        self._properties = properties
        self._source = source
        environment = jedi.InterpreterEnvironment()
        path = folder / source.path
        self._script = jedi.Script(source.text, path=path, project=project, environment=environment)
        own = [top for root in ROOTS for top in _tops(folder / root)]
        self._imported = dict(_imported(source.tree))
        self._foreign = {name for name, module in self._imported.items() if module and module not in own}
        self._import_lines = {
            line
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }

    def uses(self, wanted: set[str]) -> Iterator[dict[str, Any]]:
        """Yields every use of a wanted name, and its meaning."""
        for name in _names(self._source):
            if name.name in wanted:
                means, is_outside = self._means(name)
                where = {"path": self._source.path, "line": name.line, "name": name.name, "kind": name.kind}
                yield where | {"means": means, "outside": is_outside}

    def _means(self, name: Name) -> tuple[list[dict[str, Any]], bool]:
        """Returns the definitions in the repository, or that it is outside; neither if unknown."""
        try:
            found = self._script.goto(name.line, name.column, follow_imports=True)
        except Exception:  # noqa: BLE001  jedi raises whatever goes wrong within it
            found = []
        inside, is_outside = [], False
        for one in found:
            path = one.module_path
            if path is None or not Path(path).is_relative_to(self._folder):
                is_outside = True
            elif not self._is_import(one) and not self._is_given_to_property(one):
                where = Path(path).relative_to(self._folder).as_posix()
                kind = KINDS.get(one.type, "value")
                inside.append({"path": where, "line": one.line or 1, "name": one.name, "kind": kind})
        is_outside = is_outside or (not inside and name.root in self._foreign)
        return inside, is_outside and not inside

    def _is_import(self, found: Any) -> bool:
        """Whether jedi stopped at an unresolved import."""
        is_here = Path(found.module_path) == self._folder / self._source.path
        return is_here and found.line in self._import_lines

    def _is_given_to_property(self, found: Any) -> bool:
        """Whether jedi mistakes `depot.rate = 3` for the definition of a possible property."""
        return found.type == "statement" and found.name in self._properties


def _tops(root: Path) -> Iterator[str]:
    return (path.stem for path in root.glob("*") if path.is_dir() or path.suffix == ".py")


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Returns local names and their outermost package, empty for relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield (
                    alias.asname or alias.name,
                    "" if node.level else (node.module or "").partition(".")[0],
                )


def _names(source: Source) -> Iterator[Name]:
    """Yields every use of a name, in no order."""
    lines = source.text.splitlines(keepends=True)
    kinds = dict(_kinds(source.tree))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                column = _characters(lines, alias.lineno, alias.col_offset)
                yield Name(alias.name, alias.lineno, column, "imports", alias.asname or alias.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            column = _characters(lines, node.lineno, node.col_offset)
            yield Name(node.id, node.lineno, column, kinds.get(node, "references"), node.id)
        elif isinstance(node, ast.Attribute):
            line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
            column = _characters(lines, line, end - len(node.attr.encode()))
            kind = kinds.get(node, "references" if isinstance(node.ctx, ast.Load) else "assigns")
            yield Name(node.attr, line, column, kind, _root(node))


def _kinds(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.func, "calls"
        elif isinstance(node, ast.ClassDef):
            bases = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
            yield from ((base, "extends") for base in bases)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ((decorator, "calls") for decorator in node.decorator_list)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _characters(lines: list[str], line: int, column_bytes: int) -> int:
    return len(lines[line - 1].encode()[:column_bytes].decode())


if __name__ == "__main__":
    main()
