"""How the tests of one file are run, by the tool that a repository uses for its tests."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from prism_scribe.core.wiki.orientation import Orientation

_JS_TOOLS = {"vitest": "npx vitest run", "jest": "npx jest", "mocha": "npx mocha", "ava": "npx ava"}


class OneTest(NamedTuple):
    """A command that runs the tests of one file. `sign` is the file that shows which tool is used."""

    command: str
    path: str
    sign: str


def one_tests(orientation: Orientation) -> list[OneTest]:
    """Returns a command for each tool that a manifest or the file names show, with a test of this repository."""
    tests = [path for path in sorted(orientation.files) if orientation.is_test(path)]
    return [found for read in _READERS for found in read(orientation, tests)]


def _go(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    if "go.mod" in orientation.manifests and (path := _first(tests, r"_test\.go$")):
        folder = str(PurePosixPath(path).parent)
        yield OneTest(f"go test ./{folder}" if folder != "." else "go test .", path, "go.mod")


def _mix(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    if "mix.exs" in orientation.files and (path := _first(tests, r"^test/.*_test\.exs$")):
        yield OneTest(f"mix test {path}", path, "mix.exs")


def _phpunit(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    signs = [name for name in ("phpunit.xml.dist", "phpunit.xml") if name in orientation.files]
    if signs and (path := _first(tests, r"Test\.php$")):
        yield OneTest(f"vendor/bin/phpunit {path}", path, signs[0])


def _python(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    path = _first(tests, r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
    names = ("pyproject.toml", "tox.ini", "pytest.ini", "setup.cfg")
    signs = [name for name in names if _says(orientation, name, r"\bpytest\b")]
    if path and (signs or "pytest.ini" in orientation.files):
        yield OneTest(f"python -m pytest {path}", path, signs[0] if signs else "pytest.ini")
    elif path and any(
        "unittest" in one.statement for one in orientation.conventions if one.language == "python"
    ):
        yield OneTest(f"python -m unittest {path}", path, path)


def _cargo(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    if "Cargo.toml" in orientation.manifests and (
        path := _first(tests, r"^tests/(?!common|helpers?|util|support|mod\b)[^/]+\.rs$")
    ):
        yield OneTest(f"cargo test --test {PurePosixPath(path).stem}", path, "Cargo.toml")


def _javascript(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    path = _first(tests, r"\.(?:test|spec)\.[cm]?[jt]sx?$|^tests?/.*\.[cm]?[jt]s$")
    for tool, command in _JS_TOOLS.items():
        if path and _says(orientation, "package.json", rf'"{tool}"\s*:'):
            yield OneTest(f"{command} {path}", path, "package.json")
            return


def _ruby(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    if ".rspec" in orientation.files and (path := _first(tests, r"^spec/.*_spec\.rb$")):
        yield OneTest(f"bundle exec rspec {path}", path, ".rspec")


def _dotnet(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    sign = next((path for path in sorted(orientation.files) if path.endswith((".sln", ".slnx"))), "")
    if sign and (path := _first(tests, r"Tests?\.cs$")):
        yield OneTest(f"dotnet test --filter FullyQualifiedName~{PurePosixPath(path).stem}", path, sign)


def _java(orientation: Orientation, tests: Sequence[str]) -> Iterator[OneTest]:
    path = _first(tests, r"src/test/.*Tests?\.(?:java|kt)$")
    if path and "pom.xml" in orientation.files:
        yield OneTest(f"mvn test -Dtest={PurePosixPath(path).stem}", path, "pom.xml")
    for sign in ("build.gradle", "build.gradle.kts"):
        if path and sign in orientation.files:
            yield OneTest(f"gradle test --tests {PurePosixPath(path).stem}", path, sign)


def _first(tests: Sequence[str], pattern: str) -> str:
    return next((path for path in tests if re.search(pattern, path)), "")


def _says(orientation: Orientation, manifest: str, pattern: str) -> bool:
    return any(re.search(pattern, line) for line in orientation.manifests.get(manifest, ()))


_READERS: tuple[Callable[[Orientation, Sequence[str]], Iterator[OneTest]], ...] = (
    _go, _mix, _phpunit, _python, _cargo, _javascript, _ruby, _dotnet, _java,
)  # fmt: skip
