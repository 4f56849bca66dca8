"""Tests that definitions of a name are listed once per place."""

import pytest

from prism_chunker.core import chunk_file
from prism_resolver.symbol_names import RepoPath, SymbolName
from prism_search.core.definitions import DefinitionMatch, distinct_places, members_of, with_prototypes
from prism_store.reader import StoredPoint


def matches(name: str, *files: tuple[str, str]) -> list[DefinitionMatch]:
    asked = SymbolName.read(name)
    return [
        DefinitionMatch(StoredPoint(path, 0.0, {"path": path, "language": chunked.language}), symbol, fit)
        for path, text in files
        for chunked in [chunk_file(path, text)]
        for symbol in chunked.symbols
        if (fit := asked.fit(symbol, RepoPath("parcels", path)))
    ]


def listed(name: str, *files: tuple[str, str]) -> list[str]:
    """Returns the qualified names and signatures of the listed definitions, in order."""
    return [
        f"{one.symbol.qualified_name}: {one.symbol.signature}"
        for one in distinct_places(matches(name, *files))
    ]


def declared(name: str, *files: tuple[str, str]) -> list[tuple[str, list[str]]]:
    """Returns the files of the definitions, each with those of its prototypes."""
    return [
        (one.match.point.id, [prototype.point.id for prototype in one.prototypes])
        for one in with_prototypes(matches(name, *files))
    ]


@pytest.mark.parametrize(
    ("name", "path", "text", "expected"),
    [
        ("Parcel", "Parcel.hs", "newtype Parcel = Parcel Int\n", ["Parcel: newtype Parcel = Parcel Int"]),
        ("Parcel", "p.h", "typedef struct Parcel {\n  int grams;\n} Parcel;\n", ["Parcel: typedef struct Parcel"]),
        ("Parcel", "p.h", "typedef struct Parcel { int g; } Parcel, *PParcel;\n", ["Parcel: typedef struct Parcel"]),
        ("Parcel", "p.h", "/* What is sent. */\ntypedef struct Parcel {\n  int grams;\n} Parcel;\n", ["Parcel: typedef struct Parcel"]),
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


WEIGH_C = ("weigh.c", "int weigh(int grams) {\n  return grams;\n}\n")
WEIGH_H = ("weigh.h", "int weigh(int grams);\n")


def test_a_prototype_belongs_to_the_definition_with_a_body() -> None:
    assert declared("weigh", WEIGH_H, WEIGH_C) == [("weigh.c", ["weigh.h"])]
    assert declared("weigh", WEIGH_C, WEIGH_H, ("old.h", "int weigh(g);\n")) == [
        ("weigh.c", ["weigh.h", "old.h"])
    ]


def test_a_prototype_alone_is_a_definition() -> None:
    assert declared("weigh", WEIGH_H) == [("weigh.h", [])]


def test_a_prototype_of_an_overload_belongs_to_its_parameters() -> None:
    bodies = ("weigh.cpp", "int weigh(int a) { return a; }\nint weigh(long a) { return 1; }\n")
    assert declared("weigh", bodies, ("weigh.hpp", "int weigh( long  a );\nint weigh(char a);\n")) == [
        ("weigh.cpp", []), ("weigh.cpp", ["weigh.hpp"]), ("weigh.hpp", [])
    ]  # fmt: skip


def test_signatures_of_other_languages_stay_definitions() -> None:
    text = "function weigh(a: string): void;\nfunction weigh(a: any) {}\n"
    assert len(declared("weigh", ("a.ts", text))) == 2


def test_members_are_the_functions_and_types_directly_in_a_type() -> None:
    text = "class Scale:\n    unit = 1\n\n    def weigh(self):\n        def read(): ...\n\n    class Pan: ...\n\ndef tare(): ...\n"
    symbols = chunk_file("scale.py", text).symbols
    assert [(one.name, one.start_line) for one in members_of(symbols[0], symbols)] == [
        ("weigh", 4),
        ("Pan", 7),
    ]
