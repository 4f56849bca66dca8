"""Tests what an edit affects."""

import pytest
from source_files import source

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.rpc.symbols import Definition
from prism_search.core.edits import (
    files_named_after,
    group_tests_by_subject,
    is_constructor,
    is_counterpart,
    is_public,
    owner_of,
    same_shape,
    symbol_at,
)
from prism_search.core.references.edges import SourceFile

DEPOT = """class Depot:
    limit = 3

    def __init__(self):
        self.parcels = []

    def weigh(self):
        def scale():
            return 1
        return scale()


class _Shed:
    def weigh(self):
        return 2
"""


def position(file: SourceFile, name: str) -> int:
    return next(at for at, symbol in enumerate(file.symbols) if symbol.qualified_name == name)


@pytest.mark.parametrize(
    ("start", "end", "name"),
    [
        (9, 9, "Depot.weigh.scale"),
        (8, 10, "Depot.weigh"),
        (2, 2, "Depot"),
        (4, 8, "Depot"),
        (11, 14, "_Shed"),
        (11, 12, ""),
    ],
)
def test_smallest_symbol_around_lines_is_chosen(start, end, name) -> None:
    file = source("depot.py", DEPOT)
    found = symbol_at(file.symbols, start, end)
    assert (file.symbols[found].qualified_name if found >= 0 else "") == name


def test_members_have_an_owner_and_classes_none() -> None:
    file = source("depot.py", DEPOT)
    assert owner_of(file, position(file, "Depot.weigh")) == "Depot"
    assert owner_of(file, position(file, "Depot")) == ""


def test_constructors_are_found_by_name_or_kind() -> None:
    file = source("depot.py", DEPOT)
    assert is_constructor(file.symbols[position(file, "Depot.__init__")])
    assert not is_constructor(file.symbols[position(file, "Depot.weigh")])


def test_members_of_private_symbols_are_not_public() -> None:
    file = source("depot.py", DEPOT)
    assert is_public(file, position(file, "Depot.weigh"))
    assert not is_public(file, position(file, "_Shed.weigh"))
    assert not is_public(file, position(file, "Depot.weigh.scale"))


def definition(path: str, signature: str = "", language: str = "c") -> Definition:
    symbol = Symbol(
        name="weigh", qualified_name="weigh", kind=SymbolKind.FUNCTION, start_line=1, end_line=2, name_line=1, signature=signature
    )  # fmt: skip
    return Definition(repo="acme/parcels", file_path=path, language=language, symbol=symbol)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (definition("src/weigh.c"), definition("include/weigh.h"), True),
        (definition("src/unix/weigh.c"), definition("src/win/weigh.cpp", language="cpp"), True),
        (
            definition("src/a.c", "static int weigh(void)"),
            definition("src/b.c", "static int weigh(void)"),
            False,
        ),
        (definition("weigh.pyi", language="python"), definition("weigh.py", language="python"), True),
        (definition("a/weigh.py", language="python"), definition("b/weigh.py", language="python"), False),
        (definition("weigh.ts", language="typescript"), definition("weigh.ts", language="typescript"), True),
    ],
)
def test_declarations_and_bodies_are_counterparts(one, other, expected) -> None:
    assert is_counterpart(one, other) is expected
    assert is_counterpart(other, one) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("func (d *Depot) Weigh(p Parcel, exact bool) (int, error)", "Weigh(Parcel, bool) (int, error)", True),
        ("func (Depot) Weigh() int", "Weigh() int", True),
        ("func (d *Depot) Weigh(find func(a, b int) int) int", "Weigh(func(a, b int) int) int", True),
        ("func (d *Depot) Weigh(find func(a, b int) int) int", "Weigh(Parcel, Scale) int", False),
        ("func (d *Depot) Weigh(p Parcel) int", "Weigh() int", False),
        ("func (d *Depot) Weigh(p Parcel) int", "Weigh(Parcel) error", False),
    ],
)  # fmt: skip
def test_shape_ignores_receivers_and_parameter_names(one, other, expected) -> None:
    assert same_shape(definition("a.go", one).symbol, definition("b.go", other).symbol) is expected


def test_tests_of_a_file_are_listed_nearest_first() -> None:
    paths = [
        "depot.py", "tests/test_depot.py", "depot/test_depot.py", "depot_test.go", "tests/test_depots.py",
        "tests/depot_data.py", "web/Depot.spec.ts", "java/DepotTest.java",
    ]  # fmt: skip
    tests = group_tests_by_subject(paths)
    assert files_named_after("depot/depot.py", tests) == ["depot/test_depot.py", "tests/test_depot.py"]
    assert files_named_after("depot.go", tests) == ["depot_test.go"]
    assert files_named_after("web/Depot.ts", tests) == ["web/Depot.spec.ts"]
    assert files_named_after("java/Depot.java", tests) == ["java/DepotTest.java"]
