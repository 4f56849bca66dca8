"""Infers which libraries code of a language is tested and logged with, from its imports."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from prism_contracts.code import Flag, ReferenceKind
from prism_contracts.rpc.guidance import Convention
from prism_search.core.conventions.layout import test_pattern
from prism_search.core.conventions.tally import Tally
from prism_search.core.references.edges import SourceFile

# Modules by the beginnings of their names; a longer one comes before its prefix.
TEST_LIBRARIES = (
    "pytest", "unittest", "nose", "hypothesis", "vitest", "@jest/globals", "mocha", "chai", "ava", "node:test", "tape", "jasmine",
    "github.com/stretchr/testify", "github.com/onsi/ginkgo", "testing", "org.junit.jupiter", "org.junit", "junit", "org.testng",
    "io.kotest", "kotlin.test", "org.scalatest", "munit", "PHPUnit", "Pest", "rspec", "minitest", "test/unit", "Xunit", "NUnit",
    "Microsoft.VisualStudio.TestTools", "XCTest", "Testing", "gtest", "catch2", "doctest", "ExUnit", "Test.Hspec", "Test.Tasty",
)  # fmt: skip
LOG_LIBRARIES = (
    "logging", "structlog", "loguru", "log/slog", "github.com/sirupsen/logrus", "go.uber.org/zap", "github.com/rs/zerolog", "log",
    "org.slf4j", "org.apache.logging.log4j", "org.apache.commons.logging", "java.util.logging", "io.github.microutils", "winston",
    "pino", "bunyan", "log4js", "debug", "tracing", "slog", "Psr\\Log", "Monolog", "Serilog", "Microsoft.Extensions.Logging",
    "NLog", "spdlog", "glog", "os.log",
)  # fmt: skip
LOGGER = re.compile(
    r"\b(?P<name>\w+)\s*(?::\s*[\w.]+\s*)?(?::=|=)\s*(?:[\w.\\]+\.)?(?:getLogger|get_logger|GetLogger|getLog|createLogger|NewLogger)\("
)


def running(language: str, files: Sequence[SourceFile]) -> Iterator[Convention]:
    """Yields the conventions of testing and logging in files of one language."""
    tests = [
        file for file in files if Flag.TEST in file.flags and test_pattern(posixpath.basename(file.path))
    ]
    code = [file for file in files if Flag.TEST not in file.flags]
    loggers = Tally()
    for file in code:
        for number, line in enumerate(file.lines, 1):
            named = LOGGER.search(line)
            if named:
                loggers.add(named["name"], file.path, number, line)
    found = [
        _libraries(tests, TEST_LIBRARIES, is_needed=True).most(
            "tests", language, "tests use {}", things_min=3
        ),
        _libraries(code, LOG_LIBRARIES, is_needed=False).most(
            "logging", language, "logs with {}", things_min=3
        ),
        loggers.most("logging", language, "loggers are named {}", things_min=3),
    ]
    yield from filter(None, found)


def _libraries(files: Iterable[SourceFile], known: Sequence[str], *, is_needed: bool) -> Tally:
    """Counts files by the first known library that they import; files without one only if `is_needed`."""
    tally = Tally()
    for file in files:
        imported = _imported(file)
        library = next(
            (
                name
                for name in known
                if name.lower() != file.facts.repo.lower() and _module_of(name, imported)
            ),
            "",
        )
        module = _module_of(library, imported) if library else ""
        if library or is_needed:
            tally.add(library, file.path, imported.get(module, 1), module)
    return tally


def _imported(file: SourceFile) -> Mapping[str, int]:
    """Returns the modules that a file imports, with their lines."""
    return {
        module: one.line
        for one in file.references
        if one.kind is ReferenceKind.IMPORT
        for module in (one.qualifier or one.name,)
    }


def _module_of(library: str, imported: Mapping[str, int]) -> str:
    """Returns the first imported module that is the library or a part of it; empty without one."""
    return next((module for module in imported if re.match(rf"{re.escape(library)}(?:\W|$)", module)), "")
