"""Reads which commands a manifest declares: targets of make and just, scripts of npm, Composer and Python, steps of
CI, and those that every project with such a manifest has.
"""

import itertools
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import NamedTuple

import yaml

COMMANDS_MAX = 200
COLUMNS_MAX = 2_000

_TARGET = re.compile(r"^([A-Za-z0-9][A-Za-z0-9_./-]*)\s*:(?![=:])[^#]*(?:##?\s*(.*))?$")
_RECIPE = re.compile(r"^@?([A-Za-z][A-Za-z0-9_-]*)[^:=]*:(?!=)")
# Steps of CI that only prepare its machine, move files or publish.
_PREPARES = re.compile(
    r"(?:echo|exit|export|if|set|for|while|case|cd|ls|cp|mv|rm|mkdir|chmod|tar|cat|sed|curl|wget|git|gh|sudo|apt|apt-get|brew)\b"
    r"|(?:python3? -m )?pip install (?:--upgrade|-U) pip\b|docker (?:login|push|tag)\b|\w+=\S*$|#"
)
_PROGRAM = re.compile(
    r"(?:if|for|while|until|case|function)\b"
)  # a step that is a program, and not a command
_SECRET = re.compile(r"\$\{\{|\$\{?[A-Z_]*(?:TOKEN|PASSWORD|SECRET)\b")
_TOX_ENV = re.compile(r"^\[testenv:([\w.-]+)\]")
# A function of Python that a tool runs by its name: a session of Nox, a task of Invoke.
_DECORATED = re.compile(r"^@(?:nox\.)?(?:session|task)\b")
_NAMED = re.compile(r"^def\s+(\w+)\s*\(")
_RAKE_TASK = re.compile(r"^\s*task\(?\s*:?[\"']?(\w+)")
_KEY = re.compile(r'^\s*"?(?P<key>[\w.:-]+)"?\s*[:=]')


class Command(NamedTuple):
    """A command and its line. `about` is a description, or the command behind it."""

    command: str
    about: str
    line: int
    is_prose: bool = False


def is_manifest(path: str) -> bool:
    """Whether a file may declare commands."""
    return _reader(path) is not None


def is_workflow(path: str) -> bool:
    """Whether a manifest describes what CI runs, rather than what people do."""
    return path.startswith((".github/", ".circleci/")) or path in {".gitlab-ci.yml", ".travis.yml"}


def is_usual(path: str) -> bool:
    """Whether the commands of a manifest are those that every project with such a manifest has."""
    name = PurePosixPath(path).name
    return not is_workflow(path) and (name == "Cargo.toml" or name not in _READERS)


def purpose(command: str) -> str:
    """Returns what a command is for, by its name: build, run, test, lint, format; empty if it does not say."""
    words = command.split()
    name = words[2] if len(words) > 2 and words[1] in {"run", "-e"} else words[1] if len(words) > 1 else ""  # noqa: PLR2004
    return next((kind for kind, names in PURPOSES.items() if name in names), "")


def declared(path: str, lines: Sequence[str]) -> list[Command]:
    """Returns the commands that a manifest declares, in order. An unreadable manifest declares none."""
    read = _reader(path)
    if read is None:
        return []
    try:
        found: dict[str, Command] = {}
        for one in read([line[:COLUMNS_MAX] for line in lines]):
            if one.command not in found or not found[one.command].about:
                found[one.command] = one
        return list(found.values())[:COMMANDS_MAX]
    except (ValueError, RecursionError, yaml.YAMLError):
        return []


def _reader(path: str) -> Callable[[Sequence[str]], Iterator[Command]] | None:
    at = PurePosixPath(path)
    if is_workflow(path) and at.suffix in {".yml", ".yaml"} and str(at.parent) in _WORKFLOWS:
        return _workflow
    if str(at.parent) != ".":
        return None
    return _READERS.get(at.name) or _usual(at.name)


def _usual(name: str) -> Callable[[Sequence[str]], Iterator[Command]] | None:
    """Returns a reader of the commands that every project with this manifest has."""
    commands = next((found for pattern, found in USUAL.items() if fnmatch(name, pattern)), ())
    return (lambda _: (Command(command, "", 1) for command in commands)) if commands else None


def _make(lines: Sequence[str]) -> Iterator[Command]:
    for number, line in enumerate(lines, start=1):
        if (found := _TARGET.match(line)) and not found[1].startswith("."):
            about = found[2] or _first_of_recipe(lines[number:])
            yield Command(f"make {found[1]}", about, number, is_prose=bool(found[2]))


def _first_of_recipe(lines: Sequence[str]) -> str:
    """Returns the first command of a recipe of make, without the marks that silence it."""
    recipe = itertools.takewhile(lambda line: line.startswith("\t"), lines)
    commands = (line.strip().lstrip("@-+").strip().removesuffix("\\").rstrip() for line in recipe)
    return next((command for command in commands if command and not _PREPARES.match(command)), "")


def _just(lines: Sequence[str]) -> Iterator[Command]:
    for number, line in enumerate(lines, start=1):
        if (found := _RECIPE.match(line)) and not line.startswith(("set ", "export ", "alias ")):
            above = lines[number - 2] if number > 1 else ""
            if above.startswith("#"):
                yield Command(f"just {found[1]}", above.lstrip("# "), number, is_prose=True)
            else:
                below = lines[number].strip() if number < len(lines) else ""
                yield Command(f"just {found[1]}", below.lstrip("@-"), number)


def _npm(lines: Sequence[str]) -> Iterator[Command]:
    return _scripts(lines, "npm run")


def _composer(lines: Sequence[str]) -> Iterator[Command]:
    return _scripts(lines, "composer")


def _scripts(lines: Sequence[str], runner: str) -> Iterator[Command]:
    manifest = json.loads("\n".join(lines))
    scripts = manifest.get("scripts") if isinstance(manifest, dict) else None
    for name, script in scripts.items() if isinstance(scripts, dict) else ():
        steps = script if isinstance(script, list) else [script]
        about = " && ".join(map(str, steps))
        yield Command(f"{runner} {name}", about, _line_of_key(lines, name, after='"scripts"'))


def _python(lines: Sequence[str]) -> Iterator[Command]:
    manifest = tomllib.loads("\n".join(lines))
    project = manifest.get("project")
    scripts = project.get("scripts") if isinstance(project, dict) else None
    for name, target in scripts.items() if isinstance(scripts, dict) else ():
        yield Command(name, str(target), _line_of_key(lines, name, after="[project.scripts]"))


def _tox(lines: Sequence[str]) -> Iterator[Command]:
    for number, line in enumerate(lines, start=1):
        if found := _TOX_ENV.match(line):
            yield Command(f"tox -e {found[1]}", _setting(lines[number:], "commands"), number)


def _decorated(lines: Sequence[str], runner: str) -> Iterator[Command]:
    """Yields the functions of Python that a decorator makes a command."""
    for number, line in enumerate(lines, start=1):
        if not _DECORATED.match(line):
            continue
        for below, following in enumerate(lines[number:], start=number + 1):
            if found := _NAMED.match(following):
                about = next((text for text in lines[below : below + 2] if '"""' in text), "").strip(' "')
                yield Command(f"{runner} {found[1].replace('_', '-')}", about, below, is_prose=True)
                break


def _nox(lines: Sequence[str]) -> Iterator[Command]:
    return _decorated(lines, "nox -s")


def _invoke(lines: Sequence[str]) -> Iterator[Command]:
    return _decorated(lines, "invoke")


def _rake(lines: Sequence[str]) -> Iterator[Command]:
    for number, line in enumerate(lines, start=1):
        if found := _RAKE_TASK.match(line):
            above = lines[number - 2].strip() if number > 1 else ""
            about = above.removeprefix("desc").strip(" '\"()") if above.startswith("desc") else ""
            yield Command(f"rake {found[1]}", about, number, is_prose=True)


def _cargo(lines: Sequence[str]) -> Iterator[Command]:
    tomllib.loads("\n".join(lines))
    yield Command("cargo build", "", 1)
    yield Command("cargo test", "", 1)


def _workflow(lines: Sequence[str]) -> Iterator[Command]:
    """Yields the first command of each step that people would run, too."""
    for step in _steps_of(yaml.compose("\n".join(lines), yaml.SafeLoader)):
        commands = [one.strip() for one in re.sub(r"\\\n\s*", "", step.value).splitlines()]
        if any(map(_PROGRAM.match, commands)):
            continue
        command = next((one for one in commands if one and not _PREPARES.match(one)), "")
        if command and not _SECRET.search(command):
            yield Command(command, "", step.start_mark.line + 1)


def _steps_of(root: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """Yields the commands of the steps, in the order of the file. An alias counts once."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting.extend(reversed(node.value))
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value in _STEPS:
                    steps = value.value if isinstance(value, yaml.SequenceNode) else [value]
                    yield from (step for step in steps if isinstance(step, yaml.ScalarNode))
            waiting.extend(value for _, value in reversed(node.value))


def _setting(lines: Sequence[str], name: str) -> str:
    """Returns the value of a setting in a section of an INI file, on its line or the next."""
    for position, line in enumerate(lines):
        if line.startswith("["):
            return ""
        key, separator, value = line.partition("=")
        if separator and key.strip() == name:
            following = lines[position + 1].strip() if position + 1 < len(lines) else ""
            return value.strip() or following
    return ""


def _line_of_key(lines: Sequence[str], key: str, after: str) -> int:
    begun = False
    for number, line in enumerate(lines, start=1):
        begun = begun or after in line
        if begun and (found := _KEY.match(line)) and found["key"] == key:
            return number
    return 1


PURPOSES: Mapping[str, frozenset[str]] = {
    "build": frozenset({"build", "compile", "all", "build:all"}),
    "run": frozenset({"run", "start", "dev", "serve", "up"}),
    "test": frozenset(
        {"test", "tests", "unit", "unittest", "unit-test", "test-unit", "test:unit", "py", "check-test"}
    ),
    "lint": frozenset({"lint", "check", "clippy", "vet", "typecheck", "style"}),
    "format": frozenset({"fmt", "format", "fix"}),
}

# Keys whose values are commands: of GitHub Actions, CircleCI, and GitLab CI or Travis CI.
_STEPS = frozenset({"run", "command", "script"})
_WORKFLOWS = frozenset({".github/workflows", ".circleci", "."})

_READERS: Mapping[str, Callable[[Sequence[str]], Iterator[Command]]] = {
    "Makefile": _make,
    "GNUmakefile": _make,
    "justfile": _just,
    "Justfile": _just,
    "package.json": _npm,
    "composer.json": _composer,
    "pyproject.toml": _python,
    "tox.ini": _tox,
    "Cargo.toml": _cargo,
    "noxfile.py": _nox,
    "tasks.py": _invoke,
    "Rakefile": _rake,
}

# By the name of a manifest, which may be a pattern.
USUAL: Mapping[str, tuple[str, ...]] = {
    "go.mod": ("go build ./...", "go test ./..."),
    "mix.exs": ("mix deps.get", "mix test"),
    "pom.xml": ("mvn compile", "mvn test"),
    "build.gradle*": ("gradle build", "gradle test"),
    "CMakeLists.txt": ("cmake -B build", "cmake --build build", "ctest --test-dir build"),
    "Package.swift": ("swift build", "swift test"),
    "*.sln": ("dotnet build", "dotnet test"),
    "*.slnx": ("dotnet build", "dotnet test"),
    "*.csproj": ("dotnet build", "dotnet test"),
    "build.zig": ("zig build", "zig build test"),
    "build.sbt": ("sbt compile", "sbt test"),
}
