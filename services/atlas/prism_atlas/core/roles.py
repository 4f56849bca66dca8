"""What symbols are to a test runner: tests, fixtures, what runs before tests, and types whose tests it collects.

Read from names and from what is written above a definition: decorators, annotations, attributes. A parameter that
asks for a fixture is a role as well, with the name of the fixture.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from prism_contracts.code import (
    CALLABLE_KINDS,
    TYPE_KINDS,
    Flag,
    Reference,
    ReferenceKind,
    Symbol,
    SymbolFact,
    SymbolKind,
)
from prism_resolver.facts import FileFacts
from prism_resolver.fixtures import parameters_without_default
from prism_resolver.languages import JVM
from prism_resolver.unit import INHERITS


class Role(StrEnum):
    """What a symbol is to a test runner."""

    TEST = "test"
    FIXTURE = "fixture"
    EVERY = "every"  # runs for every test of its class, its file or, in a conftest.py, its folder
    CASES = "cases"  # a type whose tests run, whatever its name
    ABSTRACT = "abstract"  # a type whose tests run in its subtypes only
    REQUEST = "request"  # asks for the fixture `name`


class RoleRow(NamedTuple):
    """A role of a symbol, which is its position in its file."""

    symbol: int
    role: Role
    name: str = ""


PYTEST_SETUP = frozenset(
    {"setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "setup_method"}
    | {"teardown_method", "setup_class", "teardown_class", "setUpModule", "tearDownModule", "setup_module"}
    | {"teardown_module", "setup_function", "teardown_function", "setup", "teardown"}
)  # fmt: skip
FIXTURES = frozenset({"fixture", "yield_fixture"})
ASKED_BY_TEXT = frozenset({"usefixtures", "getfixturevalue"})
# Annotations and attributes, without their last part `Attribute`.
TEST_MARKS = frozenset(
    {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property", "Theory", "Fact"}
    | {"SkippableFact", "SkippableTheory", "TestCase", "TestCaseSource", "TestMethod", "DataTestMethod"}
)  # fmt: skip
SETUP_MARKS = frozenset(
    {"Before", "BeforeEach", "BeforeAll", "BeforeClass", "BeforeMethod", "BeforeTest", "BeforeSuite", "After"}
    | {"AfterEach", "AfterAll", "AfterClass", "AfterMethod", "AfterTest", "AfterSuite", "SetUp", "TearDown"}
    | {"OneTimeSetUp", "OneTimeTearDown", "TestInitialize", "TestCleanup", "ClassInitialize", "ClassCleanup"}
)  # fmt: skip
XUNIT_SETUP = frozenset(
    {"InitializeAsync", "DisposeAsync", "Dispose", "setUp", "tearDown", "setUpBeforeClass"}
)
GO_TEST = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])")
GO_SETUP = frozenset(
    {"SetupTest", "SetupSuite", "SetupSubTest", "BeforeTest", "TearDownTest", "TearDownSuite"}
)
# Macros that define a test, functions that run one they are given, and tests by their names alone, in C and C++.
TEST_MACRO = re.compile(r"(?:[A-Z0-9]+_)*(?:U?TEST|TESTCASE|SCENARIO)(?:_[A-Z0-9]+)*$|Test$")
RUNNER = re.compile(r"test", re.IGNORECASE)
NAMED_TEST = re.compile(r"[Tt]est(?:_|[A-Z\d])|\w+_test$")
NO_PARAMETERS = re.compile(r"\(\s*(?:void)?\s*\)")
C_SETUP = frozenset(
    {"setUp", "tearDown", "SetUp", "TearDown", "SetUpTestSuite", "TearDownTestSuite", "SetUpTestCase"}
    | {"TearDownTestCase", "suiteSetUp", "suiteTearDown", "setup", "teardown"}
)  # fmt: skip
C_TESTS = frozenset({"c", "cpp"})
# Languages whose tests are methods with names or marks, in classes.
CLASS_TESTS = JVM | {"csharp", "php", "swift", "ruby"}
RULED = CLASS_TESTS | C_TESTS | {"python", "go", "rust"}


def roles_of(facts: FileFacts) -> list[RoleRow]:
    """Returns the roles of the symbols of a file; none outside of tests, except in Rust, whose tests are anywhere."""
    if facts.language == "rust":
        return list(_rust(facts))
    if Flag.TEST not in facts.flags or facts.language not in RULED:
        return []
    if facts.language == "python":
        return list(_python(facts))
    if facts.language in C_TESTS:
        return list(_c_family(facts))
    return list(_go(facts) if facts.language == "go" else _classes(facts))


def _python(facts: FileFacts) -> Iterator[RoleRow]:
    marks = _marks(facts)
    bases = _bases(facts)
    named = _named_fixtures(facts)
    for position, symbol in enumerate(facts.symbols):
        above = marks.get(position, ())
        if symbol.kind in TYPE_KINDS:
            if symbol.name.startswith("Test") or any(
                base.endswith("TestCase") for base in bases.get(position, ())
            ):
                yield RoleRow(position, Role.CASES)
        elif symbol.kind in CALLABLE_KINDS:
            is_fixture = any(mark.name in FIXTURES for mark in above)
            if is_fixture:
                yield RoleRow(position, Role.FIXTURE, named.get(position, symbol.name))
            elif symbol.name.startswith("test") and _is_outer(facts, symbol):
                yield RoleRow(position, Role.TEST)
            if symbol.name in PYTEST_SETUP or any(mark.name == "autouse" for mark in above):
                yield RoleRow(position, Role.EVERY)
            if is_fixture or symbol.name.startswith("test") or symbol.name in PYTEST_SETUP:
                yield from (
                    RoleRow(position, Role.REQUEST, name)
                    for name in parameters_without_default(symbol.signature)
                )
    yield from _requested_by_text(facts)


def _requested_by_text(facts: FileFacts) -> Iterator[RoleRow]:
    """What `usefixtures` and `getfixturevalue` name: for what is below a decorator, else for what is around it."""
    decorated = decorated_lines(facts)
    for reference in facts.references:
        if reference.qualifier in ASKED_BY_TEXT:
            around = decorated.get(reference.line, reference.symbol)
            if around >= 0 and facts.symbols[around].kind not in CALLABLE_KINDS | TYPE_KINDS:
                around = facts.symbols[around].parent  # `pytestmark = pytest.mark.usefixtures("db")`
            yield RoleRow(around, Role.REQUEST, reference.name)


def decorated_lines(facts: FileFacts) -> Mapping[int, int]:
    """Returns by line above a name, as of a decorator, the position of the symbol that it belongs to."""
    found: dict[int, int] = {}
    for position, symbol in enumerate(facts.symbols):
        if symbol.kind in CALLABLE_KINDS | TYPE_KINDS:
            found |= dict.fromkeys(range(symbol.start_line, symbol.name_line), position)
    return found


def _marks(facts: FileFacts) -> Mapping[int, list[Reference]]:
    """Returns by symbol what is written above or before its name."""
    decorated = decorated_lines(facts)
    found: dict[int, list[Reference]] = {}
    for reference in facts.references:
        own = decorated.get(reference.line, reference.symbol)
        if own >= 0 and reference.line <= facts.symbols[own].name_line:
            found.setdefault(own, []).append(reference)
    return found


def _bases(facts: FileFacts) -> Mapping[int, list[str]]:
    found: dict[int, list[str]] = {}
    for reference in facts.references:
        if reference.kind in INHERITS:
            found.setdefault(reference.symbol, []).append(reference.name)
    return found


def _named_fixtures(facts: FileFacts) -> dict[int, str]:
    """Returns the names of fixtures that differ from those of their functions: `@fixture(name="depot")`."""
    decorated = decorated_lines(facts)
    return {
        decorated[reference.line]: reference.name
        for reference in facts.references
        if reference.qualifier == "name" and reference.line in decorated
    }


def _is_outer(facts: FileFacts, symbol: Symbol | SymbolFact) -> bool:
    """Whether a function is not inside of another."""
    return symbol.parent < 0 or facts.symbols[symbol.parent].kind in TYPE_KINDS


def _go(facts: FileFacts) -> Iterator[RoleRow]:
    for position, symbol in enumerate(facts.symbols):
        if symbol.kind in CALLABLE_KINDS and symbol.name in GO_SETUP | {"TestMain"}:
            yield RoleRow(position, Role.EVERY)
        elif symbol.kind in CALLABLE_KINDS and GO_TEST.match(symbol.name):
            yield RoleRow(position, Role.TEST)


def _c_family(facts: FileFacts) -> Iterator[RoleRow]:
    """Tests that a macro defines, that a runner is given (`RUN_TEST(test_open)`), or that are named so."""
    runners = {
        (one.symbol, one.line)
        for one in facts.references
        if one.kind is ReferenceKind.CALL and RUNNER.search(one.name)
    }
    run = {
        one.name
        for one in facts.references
        if one.kind is ReferenceKind.VALUE and (one.symbol, one.line) in runners
    }
    for position, symbol in enumerate(facts.symbols):
        if symbol.kind not in CALLABLE_KINDS or symbol.bodiless:
            continue
        macro = symbol.signature.partition("(")[0].strip()
        is_named = NAMED_TEST.match(symbol.name) and NO_PARAMETERS.search(symbol.signature)
        if TEST_MACRO.match(macro) or symbol.name in run or is_named:
            yield RoleRow(position, Role.TEST)
        elif symbol.name in C_SETUP:
            yield RoleRow(position, Role.EVERY)


def _rust(facts: FileFacts) -> Iterator[RoleRow]:
    marked = {
        position for position, marks in _marks(facts).items() if any(mark.qualifier == "#" for mark in marks)
    }
    yield from (RoleRow(position, Role.TEST) for position in sorted(marked))


def _classes(facts: FileFacts) -> Iterator[RoleRow]:
    """Tests by annotations, attributes or names, in classes."""
    marks = _marks(facts)
    bases = _bases(facts)
    with_tests: set[int] = set()
    for position, symbol in enumerate(facts.symbols):
        if symbol.kind in TYPE_KINDS and re.search(r"\babstract\b", symbol.signature):
            yield RoleRow(position, Role.ABSTRACT)
        if symbol.kind not in CALLABLE_KINDS:
            continue
        above = {mark.name.removesuffix("Attribute") for mark in marks.get(position, ())}
        is_case = symbol.parent >= 0 and any(
            base.endswith(("TestCase", "Test", "Tests")) for base in bases.get(symbol.parent, ())
        )
        if above & TEST_MARKS or (is_case and symbol.name.startswith("test")):
            with_tests.add(symbol.parent)
            yield RoleRow(position, Role.TEST)
        elif above & SETUP_MARKS or symbol.name in XUNIT_SETUP or (is_case and symbol.name == "setup"):
            yield RoleRow(position, Role.EVERY)
    for position, symbol in enumerate(facts.symbols):
        if symbol.kind is SymbolKind.CONSTRUCTOR and symbol.parent in with_tests:
            yield RoleRow(position, Role.EVERY)
