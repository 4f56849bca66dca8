"""Breaks functions of a Python repository one at a time, and finds out which tests of its suite fail.

The suite runs once as it is, and reports which test runs which functions of which files. With a broken function
only the tests that run it are run again.
"""

import ast
import json
import os
import random
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from prism_contracts.code import Flag
from prism_source.classify import classify_path

# A broken function raises only while a test, or what sets it up, runs: imports and the collection stay whole.
BREAK = 'if "PYTEST_CURRENT_TEST" in __import__("os").environ: raise RuntimeError("mutant")'
# Records the tests that fail, and what each test runs, without the parameters of tests.
PLUGIN = """\
import json
import os
import sys
import threading

import pytest

FOLDER = os.environ["MUTATION_FOLDER"]
TRACES = os.environ["MUTATION_TRACES"] == "1"
failed = set()
runs = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    codes = set()

    def seen(frame, event, arg):
        if event == "call":
            codes.add(frame.f_code)

    if TRACES:
        threading.setprofile(seen)
        sys.setprofile(seen)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        own = {
            f"{os.path.relpath(code.co_filename, FOLDER)}:{code.co_firstlineno}"
            for code in codes
            if code.co_filename.startswith(FOLDER)
        }
        runs.setdefault(item.nodeid.partition("[")[0], set()).update(own)


def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid.partition("[")[0])


def pytest_unconfigure():
    with open(os.environ["MUTATION_REPORT"], "w") as file:
        json.dump({"failed": sorted(failed), "runs": {test: sorted(own) for test, own in runs.items()}}, file)
"""
# Folders with code that no suite is about.
ASIDE = frozenset({"docs", "doc", "examples", "scripts", "performance", "benchmarks"})
# More tests than these are named by their files.
IDS_MAX = 400


class Mutant(NamedTuple):
    """A function, the line that it begins with, and the line and column of its body."""

    path: str
    name: str  # qualified
    first_line: int
    line: int
    column: int

    @property
    def place(self) -> str:
        """The file and the line, as the suite reports them."""
        return f"{self.path}:{self.first_line}"


class Report(NamedTuple):
    """The tests that failed, and the places of the functions that each test runs."""

    failed: frozenset[str]
    runs: dict[str, frozenset[str]]


class Suite:
    """The suite of a repository, run by an interpreter that has what it needs."""

    def __init__(self, folder: Path, python: Path, work: Path, limit_s: float) -> None:
        self._folder = folder.resolve()
        self._python = python.absolute()
        self._work = work.resolve()
        self._limit_s = limit_s
        self._work.mkdir(parents=True, exist_ok=True)
        (self._work / "mutation_plugin.py").write_text(PLUGIN)

    def trace(self) -> Report:
        """Returns what each test runs. Raises TimeoutExpired, and OSError if the suite did not run."""
        return self._run((), traces=True)

    def failing(self, mutant: Mutant, whole: Report) -> frozenset[str] | None:
        """Returns the tests that fail only while a function raises; None if they did not end in time."""
        tests = sorted(test for test, places in whole.runs.items() if mutant.place in places)
        if not tests:
            return frozenset()
        if len(tests) > IDS_MAX:
            tests = sorted({test.partition("::")[0] for test in tests})
        path = self._folder / mutant.path
        before = path.read_bytes()
        lines = before.decode().split("\n")
        lines.insert(mutant.line - 1, " " * mutant.column + BREAK)
        try:
            path.write_text("\n".join(lines))
            return self._run(tests, traces=False).failed - whole.failed
        except subprocess.TimeoutExpired:
            return None
        finally:
            path.write_bytes(before)

    def _run(self, tests: Sequence[str], *, traces: bool) -> Report:
        report = self._work / "report.json"
        report.unlink(missing_ok=True)
        environment = os.environ | {
            "MUTATION_REPORT": str(report),
            "MUTATION_FOLDER": str(self._folder),
            "MUTATION_TRACES": "1" if traces else "0",
            "PYTHONPATH": os.pathsep.join(map(str, (self._folder / "src", self._folder, self._work))),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        options = ["-q", "--tb=no", "-p", "mutation_plugin", "-p", "no:cacheprovider"]
        subprocess.run(
            [str(self._python), "-m", "pytest", *options, *tests],
            cwd=self._folder,
            env=environment,
            capture_output=True,
            timeout=self._limit_s,
            check=False,
        )
        found = json.loads(report.read_text())
        return Report(
            frozenset(found["failed"]), {test: frozenset(own) for test, own in found["runs"].items()}
        )


def sample(folder: Path, whole: Report, count: int, seed: int) -> list[Mutant]:
    """Returns functions of source files that some test runs, drawn at random."""
    reached = {place for places in whole.runs.values() for place in places}
    every = [one for path in _sources(folder) for one in _mutants(folder, path) if one.place in reached]
    return random.Random(seed).sample(sorted(every), min(count, len(every)))


def read_truth(path: Path) -> dict[str, list[str]]:
    """Returns what an earlier run found: the failing tests by `path:name`."""
    found: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def write_truth(path: Path, truth: Mapping[str, Sequence[str]]) -> None:
    """Keep what a run found."""
    path.write_text(json.dumps(truth, indent=0))


def _sources(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if Flag.TEST not in classify_path(name).letters and not ASIDE & set(name.split("/")[:-1]):
            yield name


def _mutants(folder: Path, path: str) -> Iterator[Mutant]:
    """Yields the functions and methods of a file, without those inside of functions, stubs and overloads."""

    def visit(nodes: Iterable[ast.stmt], prefix: str) -> Iterator[Mutant]:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                yield from visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[ast.get_docstring(node) is not None :]
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                if body and body[0].lineno > node.lineno:
                    yield Mutant(path, f"{prefix}{node.name}", first, body[0].lineno, body[0].col_offset)
            elif isinstance(node, ast.If | ast.Try):
                yield from visit(node.body, prefix)

    yield from visit(ast.parse((folder / path).read_text()).body, "")
