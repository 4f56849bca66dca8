"""Broken code, as while it is typed: a variable whose name is not there yet."""

import pytest

from prism_chunker.core import chunk_file


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def weigh():\n    for  in parcels:\n        pack()\n"),
        ("a.js", "function weigh() { { const  = 2; let {a: } = b; } }\n"),
        ("a.java", "class A { void weigh() { { int ; pack(); } try { } catch (E ) { } } }\n"),
        ("a.cpp", "void weigh() { { Gate = 1; int ; pack(); } for (auto : xs) { pack(); } }\n"),
        ("a.swift", "func weigh() { if let = x { pack() }; for in y { pack() } }\n"),
        ("a.kt", "fun weigh() { run { val = 1; pack() } ; for ( in y) { pack() } }\n"),
    ],
)
def test_a_variable_without_a_name_ends_the_search_for_its_uses(path: str, text: str) -> None:
    assert "weigh" in {symbol.name for symbol in chunk_file(path, text).symbols}


def test_a_variable_without_a_name_does_not_say_what_its_function_returns() -> None:
    bindings = chunk_file("a.swift", "func weigh() { let : Gate = pack() }\n").bindings
    assert [one for one in bindings if not one.name] == []
