"""Definitions of a name as they are told: each place once."""

import pytest

from prism_chunker.core import chunk_file
from prism_resolver.symbol_names import RepoPath, SymbolName
from prism_search.core.definitions import DefinitionMatch, distinct_places
from prism_store.reader import StoredPoint


def told(name: str, *files: tuple[str, str]) -> list[str]:
    """The qualified names and signatures of what is told of a name, in order."""
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
def test_symbols_that_are_one_to_a_reader_are_told_once(name, path, text, expected) -> None:
    assert told(name, (path, text)) == expected


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("weigh", "a.ts", "function weigh(a: string): void;\nfunction weigh(a: any) {}\n"),
        ("weigh", "a.h", "int weigh(int a); int weigh(long a);\n"),
        ("weigh", "Parcel.java", "class Parcel {\n  int weigh(int a) {}\n  int weigh(long a) {}\n}\n"),
    ],
)
def test_overloads_are_told_each(name, path, text) -> None:
    assert len(told(name, (path, text))) == 2


def test_the_same_in_two_files_is_told_twice() -> None:
    text = "def weigh(): ...\n"
    assert len(told("weigh", ("a.py", text), ("b.py", text))) == 2
