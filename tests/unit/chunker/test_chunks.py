"""Chunks follow the syntax, and have the symbol that contains them."""

from prism_chunker.core import chunk_file
from prism_chunker.core.chunks import CHUNK_CHARS_MAX, CHUNK_CHARS_TARGET, CHUNK_LINES_MAX
from prism_contracts.code import SymbolKind


def function(name: str, rows: int) -> str:
    body = "".join(f"    value_{row} = compute({row}, 'some text')\n" for row in range(rows))
    return f"# About {name}.\n@decorated\ndef {name}(a, b):\n{body}\n\n"


def test_small_neighbours_are_merged() -> None:
    parsed = chunk_file("a.py", "".join(function(f"f{i}", 3) for i in range(6)))
    assert len(parsed.chunks) == 1
    assert (parsed.chunks[0].symbol, parsed.chunks[0].kind) == ("f0", SymbolKind.FUNCTION)


def test_small_function_is_one_chunk_with_comment_and_decorator() -> None:
    parsed = chunk_file("a.py", "".join(function(f"f{i}", 40) for i in range(3)))
    assert [chunk.symbol for chunk in parsed.chunks] == ["f0", "f1", "f2"]
    assert all(chunk.text.startswith("# About") for chunk in parsed.chunks)


def test_a_big_function_is_split_between_statements() -> None:
    parsed = chunk_file("a.py", function("f", 200))
    assert {chunk.symbol for chunk in parsed.chunks} == {"f"}
    assert all(len(chunk.text) <= CHUNK_CHARS_TARGET for chunk in parsed.chunks)


def test_chunks_of_a_big_class_belong_to_methods_or_the_class() -> None:
    methods = "".join(
        "    " + line for line in "".join(function(f"m{i}", 40) for i in range(3)).splitlines(keepends=True)
    )
    parsed = chunk_file("a.py", "class Cart:\n" + methods)
    assert [chunk.symbol for chunk in parsed.chunks] == ["Cart", "Cart.m1", "Cart.m2"]


def test_functions_in_a_macro_are_cut_like_functions() -> None:
    bounds = "".join(f"        T{row}: Iterator + Send + 'static,\n" for row in range(15))
    functions = "".join(
        f"    /// About f{i}.\n    fn f{i}()\n    where\n{bounds}    {{}}\n" for i in range(8)
    )
    parsed = chunk_file("a.rs", f"cfg_net! {{\n{functions}}}\n")
    assert len(parsed.chunks) > 2
    assert all(chunk.text.startswith(("cfg_net!", "    /// About")) for chunk in parsed.chunks)


def test_a_chunk_of_several_methods_belongs_to_the_class() -> None:
    methods = "".join(
        "    " + line for line in "".join(function(f"m{i}", 14) for i in range(9)).splitlines(keepends=True)
    )
    parsed = chunk_file("a.py", "class Cart:\n" + methods)
    assert len(parsed.chunks) > 2
    assert {chunk.symbol for chunk in parsed.chunks} == {"Cart"}


def test_imports_before_a_function_go_with_the_function() -> None:
    parsed = chunk_file("a.py", "import os\n\nLIMIT = 3\n\n" + function("f", 3))
    assert [chunk.symbol for chunk in parsed.chunks] == ["f"]


def test_lines_without_syntax_are_cut_after_blank_lines() -> None:
    paragraph = "some words of prose\n" * 12 + "\n"
    parsed = chunk_file("notes.txt", paragraph * 20)
    assert len(parsed.chunks) > 1
    assert all(chunk.text.endswith("\n\n") for chunk in parsed.chunks)


def test_limits_hold_to_the_character_and_the_line() -> None:
    row = "x" * 99 + "\n"
    assert [len(c.text) for c in chunk_file("a.txt", row * (CHUNK_CHARS_MAX // 100)).chunks] == [
        CHUNK_CHARS_MAX
    ]
    assert len(chunk_file("a.txt", row * (CHUNK_CHARS_MAX // 100) + "x").chunks) == 2
    assert len(chunk_file("a.txt", "x\n" * CHUNK_LINES_MAX).chunks) == 1
    assert len(chunk_file("a.txt", "x\n" * (CHUNK_LINES_MAX + 1)).chunks) == 2


def test_markdown_fences_stay_whole() -> None:
    fence = "```sh\n" + "make something\n\n" * 20 + "```\n"
    text = "# One\n\n" + "words words words\n\n" * 20 + fence + "\n# Two\n\n" + "words\n\n" * 10
    parsed = chunk_file("a.md", text)
    assert len(parsed.chunks) > 1
    assert all(chunk.text.count("```") % 2 == 0 for chunk in parsed.chunks)
    assert parsed.chunks[-1].symbol == "Two"
