"""Tests that definitions of a name are listed once per place."""

import pytest

from prism_chunker.core import chunk_file
from prism_resolver.symbol_names import RepoPath, SymbolName
from prism_search.core.definitions import DefinitionMatch, distinct_places
from prism_store.reader import StoredPoint


def listed(name: str, *files: tuple[str, str]) -> list[str]:
    """Returns the qualified names and signatures of the listed definitions, in order."""
    asked = SymbolName.read(name)
    found = [
        DefinitionMatch(StoredPoint(path, 0.0, {"path": path}), symbol, fit)
        for path, text in files
        for symbol in chunk_file(path, text).symbols
        if (fit := asked.fit(symbol, RepoPath("parcels", path)))
    ]
    return [f"{one.symbol.qualified_name}: {one.symbol.signature}" for one in distinct_places(found)]


@pytest.mark.parametrize(
    ("name", "path", "text", "expected"),
    [
        ("Parcel", "Parcel.hs", "newtype Parcel = Parcel Int\n", ["Parcel: newtype Parcel = Parcel Int"]),
        ("Parcel", "p.h", "typedef struct Parcel {\n  int grams;\n} Parcel;\n", ["Parcel: typedef struct Parcel"]),
        ("Parcel", "p.h", "typedef struct Parcel { int g; } Parcel, *PParcel;\n", ["Parcel: typedef struct Parcel"]),
        ("x", "a.py", "x, x = 1, 2\n", ["x: x, x = 1, 2"]),
    ],
)  # fmt: skip
def test_symbols_of_one_place_are_listed_once(name, path, text, expected) -> None:
    assert listed(name, (path, text)) == expected


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("weigh", "a.ts", "function weigh(a: string): void;\nfunction weigh(a: any) {}\n"),
        ("weigh", "a.h", "int weigh(int a); int weigh(long a);\n"),
        ("weigh", "Parcel.java", "class Parcel {\n  int weigh(int a) {}\n  int weigh(long a) {}\n}\n"),
    ],
)
def test_each_overload_is_listed(name, path, text) -> None:
    assert len(listed(name, (path, text))) == 2


def test_equal_definitions_in_two_files_are_both_listed() -> None:
    text = "def weigh(): ...\n"
    assert len(listed("weigh", ("a.py", text), ("b.py", text))) == 2
