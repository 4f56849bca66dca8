"""Infers conventions from small repositories, parsed by the chunker."""

import pytest
from source_files import source

from prism_chunker.core import chunk_file
from prism_contracts.rpc.guidance import Convention
from prism_search.core.conventions import infer, languages_of
from prism_search.core.conventions.layout import is_configured
from prism_search.core.conventions.naming import style_of
from prism_search.core.references.edges import SourceFile

MODULE = '''"""Parcels of depot {n}."""

import structlog

from .scales import weigh

log = structlog.get_logger()


class Depot{n}Error(ParcelError):
    """Something about depot {n}."""


def find_parcel(name: str) -> str:
    """Find it.

    Args:
        name: of the parcel
    """
    if not name:
        raise Depot{n}Error(name)
    return name


def lose_parcel(name):
    return None
'''
TEST = "import pytest\n\n\ndef test_find_parcel():\n    assert True\n"


def inferred(files: list[SourceFile], paths=(), configured=()) -> dict[str, Convention]:
    return {one.statement: one for one in infer(files, paths, configured)}


@pytest.fixture(scope="module")
def python() -> dict[str, Convention]:
    files = [source(f"src/depot_{n}.py", MODULE.format(n=n)) for n in range(6)]
    files += [source(f"tests/test_depot_{n}.py", TEST, "t") for n in range(5)]
    return inferred(files)


@pytest.mark.parametrize(
    ("statement", "share"),
    [
        ("functions are snake_case", (12, 12)),
        ("types are PascalCase", (6, 6)),
        ("names of error types end in Error", (6, 6)),
        ("error types are derived from ParcelError", (6, 6)),
        ("thrown values are an own type", (6, 6)),
        ("exported functions and types have a doc comment", (12, 18)),
        ("doc comments describe parameters as Args:", (6, 6)),
        ("functions are synchronous", (12, 12)),
        ("imports of modules in this repository are relative", (6, 6)),
        ("code is indented by 4 spaces", (11, 11)),
        ("logs with structlog", (6, 6)),
        ("loggers are named log", (6, 6)),
        ("tests use pytest", (5, 5)),
        ("test files are named test_*.py", (5, 5)),
        ("tests are in tests/", (5, 5)),
        ("source files are in src/", (6, 6)),
        ("files are named in snake_case", (11, 11)),
    ],
)
def test_majority_is_reported_with_its_counts(python, statement, share) -> None:
    assert (python[statement].count, python[statement].total) == share


def test_examples_are_from_different_files(python) -> None:
    examples = python["functions are snake_case"].examples
    assert [(one.file_path, one.line) for one in examples] == [(f"src/depot_{n}.py", 14) for n in range(3)]


def test_no_convention_without_a_majority(python) -> None:
    assert not [
        statement for statement in python if "result type" in statement
    ]  # every second function has one


def test_no_convention_from_few_things() -> None:
    files = [source(f"{n}.py", f"def find_it_{n}(): ...\n") for n in range(4)]
    assert "functions are snake_case" not in inferred(files)


def test_go_names_are_grouped_by_export() -> None:
    text = "package parcels\n\nfunc FindParcel{n}() {{}}\nfunc loseParcel{n}() {{}}\n"
    found = inferred([source(f"parcel{n}.go", text.format(n=n)) for n in range(6)])
    assert found["exported functions are PascalCase"].count == 6
    assert found["unexported functions are camelCase"].count == 6


def test_enum_members_are_not_constants() -> None:
    text = "enum Zone{n} {{ FarAway, VeryNear }}\nconst MAX_ZONES: u8 = {n};\n"
    found = inferred([source(f"src/zone{n}.rs", text.format(n=n)) for n in range(6)])
    assert found["enum members are PascalCase"].count == 12
    assert found["constants are UPPER_CASE"].count == 6


def test_a_library_does_not_log_with_itself() -> None:
    files = [source(f"{n}.py", "import structlog\n", repo="structlog") for n in range(5)]
    assert "logs with structlog" not in inferred(files)


def test_tests_may_be_next_to_the_code() -> None:
    files = [source(f"depot{n}/scale_test.go", "package depot\n", "t") for n in range(4)]
    found = inferred(files)
    assert found["tests are next to the code"].count == 4
    assert found["test files are named *_test.go"].count == 4


def test_tools_and_commands_are_listed_by_name() -> None:
    configured = [
        (path, chunk_file(path, text).symbols)
        for path, text in (
            ("Makefile", ".PHONY: test\ntest: all\n\tpytest\nall:\n\tls\n%.o: %.c\n\tcc\n"),
            ("package.json", '{"name": "x", "scripts": {"build": "tsc", "lint:all": "eslint ."}}'),
            ("pyproject.toml", "[tool.ruff]\nline-length = 100\n"),
        )
    ]
    found = inferred([], [".editorconfig", "deep/down/below/.eslintrc.json"], configured)
    assert "configured: editorconfig, ruff" in found
    assert "make (Makefile): test, all" in found
    assert "npm run (package.json): build, lint:all" in found
    assert is_configured("web/package.json")
    assert not is_configured("web/deep/package.json")


def test_rare_languages_are_left_out() -> None:
    files = [source(f"{n}.py", "") for n in range(30)] + [source(f"{n}.go", "package p\n") for n in range(4)]
    files.append(source("a.rs", ""))
    assert languages_of(files) == ["python", "go"]


@pytest.mark.parametrize(
    ("name", "style"),
    [
        ("find_parcel", "snake_case"),
        ("_find_parcel", "snake_case"),
        ("findParcel", "camelCase"),
        ("HTTPServer", "PascalCase"),
        ("MAX_SIZE", "UPPER_CASE"),
        ("find-parcel", "kebab-case"),
        ("parcel", ""),
        ("JSON", ""),
        ("__init__", ""),
        ("_", ""),
    ],
)
def test_single_words_have_no_style(name, style) -> None:
    assert style_of(name) == style
