"""The commands that run some tests and no others, in the form of each test runner."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar

from prism_atlas.core.graph import NONE, Graph
from prism_contracts.rpc.graph import RunCommand
from prism_resolver.languages import ECMASCRIPT, JVM

KeyT = TypeVar("KeyT", str, tuple[str, str])
# Longer commands name files instead of tests.
NAMES_PER_FILE_MAX = 40
COMMANDS_MAX = 20
RUST_ROOT = re.compile(r"(?P<crate>(?:.*/)?)(?P<root>src|tests|benches|examples)/(?P<path>.*)\.rs$")


class NamedTest(NamedTuple):
    """A test of a file. `symbol` is its qualified name, `title` what a call such as `it("…")` says; both empty: the file."""

    path: str
    language: str
    line: int
    symbol: str = ""
    title: str = ""


class Project(NamedTuple):
    """What a repository says about its test runners."""

    has: Callable[[str], bool]  # whether a path is in the repository
    imports: frozenset[str]  # modules from outside


def project_of(graph: Graph) -> Project:
    """Returns what the files of a graph say about test runners."""
    modules = frozenset(graph.strings[module] for module in set(graph.externals.module.tolist()))
    return Project(lambda path: graph.find_file(path) != NONE, modules)


def commands(tests: Iterable[NamedTest], project: Project) -> tuple[RunCommand, ...]:
    """Returns one command per runner, and per package where a runner takes one only. None for unknown runners."""
    by_language: dict[str, list[NamedTest]] = {}
    for test in tests:
        language = (
            "ecmascript" if test.language in ECMASCRIPT else "jvm" if test.language in JVM else test.language
        )
        by_language.setdefault(language, []).append(test)
    found = [
        command
        for language, own in sorted(by_language.items())
        if language in _RUNNERS
        for command in _RUNNERS[language](sorted(set(own)), project)
    ]
    return tuple(found[:COMMANDS_MAX])


def _pytest(tests: Sequence[NamedTest], _: Project) -> Iterator[RunCommand]:
    words = [
        f"{path}::{test.symbol.replace('.', '::')}" if test.symbol else path
        for path, own in _by_file(tests)
        for test in (own if len(own) <= NAMES_PER_FILE_MAX else [own[0]._replace(symbol="")])
    ]
    yield _command("pytest", ["pytest", *words], tests)


def _go(tests: Sequence[NamedTest], _: Project) -> Iterator[RunCommand]:
    for folder, own in _grouped(tests, lambda test: test.path.rpartition("/")[0]):
        # A method belongs to a suite, which one function runs: its name is not known.
        methods = [test.symbol.rpartition(".")[2] for test in own if "." in test.symbol]
        names = [test.symbol for test in own if "." not in test.symbol]
        package = f"./{folder}" if folder else "."
        benchmarks = [name for name in names if name.startswith("Benchmark")]
        functions = [name for name in names if not name.startswith("Benchmark")]
        if functions:
            yield _command("go test", ["go", "test", package, "-run", _exactly(functions)], own)
        if benchmarks:
            yield _command(
                "go test", ["go", "test", package, "-run", "^$", "-bench", _exactly(benchmarks)], own
            )
        if methods:
            yield _command("go test", ["go", "test", package, "-testify.m", _exactly(methods)], own)


def _cargo(tests: Sequence[NamedTest], project: Project) -> Iterator[RunCommand]:
    def target(test: NamedTest) -> tuple[str, str]:
        found = RUST_ROOT.match(test.path)
        if found is None:
            return "", ""
        is_own = found["root"] != "src"
        return found["crate"], found["path"].partition("/")[0] if is_own else ""

    for (crate, binary), own in _grouped(tests, target):
        words = ["cargo", "test"]
        if crate and project.has(f"{crate}Cargo.toml"):
            words += ["--manifest-path", f"{crate}Cargo.toml"]
        words += ["--test", binary] if binary else []
        names = list(dict.fromkeys(_rust_name(test) for test in own))
        yield _command("cargo test", [*words, "--", "--exact", *names], own)


def _rust_name(test: NamedTest) -> str:
    """Returns the path of a test from the root of its crate."""
    found = RUST_ROOT.match(test.path)
    parts = found["path"].split("/") if found else []
    if parts and found and found["root"] != "src":
        parts = parts[1:]
    if parts and parts[-1] in {"lib", "main", "mod"}:
        parts.pop()
    return "::".join([*parts, *test.symbol.split(".")])


def _ecmascript(tests: Sequence[NamedTest], project: Project) -> Iterator[RunCommand]:
    runner = next((name for name in ("vitest", "mocha") if name in project.imports), "jest")
    if runner == "jest" and project.imports & {"node:test"}:
        runner = "node"
    for path, own in _by_file(tests):
        titles = [test.title for test in own]
        named = (
            ""
            if not all(titles) or len(titles) > NAMES_PER_FILE_MAX
            else "|".join(map(_regex, dict.fromkeys(titles)))
        )
        pattern = {"vitest": "-t", "jest": "-t", "mocha": "-g", "node": "--test-name-pattern"}[runner]
        start = {
            "vitest": ["npx", "vitest", "run", path],
            "jest": ["npx", "jest", path],
            "mocha": ["npx", "mocha", path],
            "node": ["node", "--test"],
        }[runner]
        words = [*start, *([pattern, named] if named else []), *([path] if runner == "node" else [])]
        yield _command(runner, words, own)


def _dotnet(tests: Sequence[NamedTest], _: Project) -> Iterator[RunCommand]:
    names = [f"FullyQualifiedName~{test.symbol}" for test in tests if test.symbol]
    if names:
        yield _command("dotnet test", ["dotnet", "test", "--filter", "|".join(dict.fromkeys(names))], tests)


def _jvm(tests: Sequence[NamedTest], project: Project) -> Iterator[RunCommand]:
    for module, own in _grouped(tests, lambda test: test.path.partition("src/")[0].rstrip("/")):
        at = f"{module}/" if module else ""
        if project.has(f"{at}pom.xml") or (project.has("pom.xml") and not project.has("gradlew")):
            classes = _grouped(own, lambda test: test.symbol.rpartition(".")[0])
            named = [f"{owner}#{'+'.join(_last(test.symbol) for test in of)}" for owner, of in classes]
            start = ["mvn", "test", *(["-pl", module] if module and project.has(f"{at}pom.xml") else [])]
            yield _command("maven", [*start, f"-Dtest={','.join(named)}"], own)
        else:
            task = f":{module.replace('/', ':')}:test" if module else "test"
            start = ["./gradlew" if project.has("gradlew") else "gradle", task]
            filters = [word for test in own for word in ("--tests", test.symbol)]
            yield _command("gradle", [*start, *filters], own)


def _mix(tests: Sequence[NamedTest], _: Project) -> Iterator[RunCommand]:
    yield _command("mix test", ["mix", "test", *_places(tests)], tests)


def _ruby(tests: Sequence[NamedTest], _: Project) -> Iterator[RunCommand]:
    specs = [test for test in tests if test.path.endswith("_spec.rb")]
    if specs:
        yield _command("rspec", ["bundle", "exec", "rspec", *_places(specs)], specs)
    for path, own in _by_file([test for test in tests if test not in specs]):
        names = [_last(test.symbol) for test in own if test.symbol]
        filters = ["-n", f"/^({'|'.join(map(_regex, names))})$/"] if names else []
        yield _command("minitest", ["ruby", "-Ilib", "-Itest", path, *filters], own)


def _phpunit(tests: Sequence[NamedTest], _: Project) -> Iterator[RunCommand]:
    for path, own in _by_file(tests):
        names = "|".join(_regex(_last(test.symbol)) for test in own)
        yield _command("phpunit", ["vendor/bin/phpunit", "--filter", f"/::({names})( |$)/", path], own)


def _swift(tests: Sequence[NamedTest], _: Project) -> Iterator[RunCommand]:
    filters = [word for test in tests for word in ("--filter", test.symbol.replace(".", "/"))]
    yield _command("swift test", ["swift", "test", *filters], tests)


_RUNNERS: Mapping[str, Callable[[Sequence[NamedTest], Project], Iterator[RunCommand]]] = {
    "python": _pytest,
    "go": _go,
    "rust": _cargo,
    "ecmascript": _ecmascript,
    "csharp": _dotnet,
    "jvm": _jvm,
    "elixir": _mix,
    "ruby": _ruby,
    "php": _phpunit,
    "swift": _swift,
}


def _command(runner: str, words: Sequence[str], tests: Sequence[NamedTest]) -> RunCommand:
    return RunCommand(runner=runner, command=shlex.join(words), tests=len(tests))


def _by_file(tests: Sequence[NamedTest]) -> list[tuple[str, list[NamedTest]]]:
    return _grouped(tests, lambda test: test.path)


def _grouped(
    tests: Sequence[NamedTest], key: Callable[[NamedTest], KeyT]
) -> list[tuple[KeyT, list[NamedTest]]]:
    return [(one, list(own)) for one, own in groupby(sorted(tests, key=lambda test: (key(test), test)), key)]


def _places(tests: Sequence[NamedTest]) -> list[str]:
    return [f"{test.path}:{test.line}" if test.symbol or test.title else test.path for test in tests]


def _exactly(names: Sequence[str]) -> str:
    return f"^({'|'.join(dict.fromkeys(names))})$"


def _regex(text: str) -> str:
    return re.sub(r"([.*+?^${}()|\[\]\\/])", r"\\\1", text)


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
