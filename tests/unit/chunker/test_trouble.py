"""Input beyond the limits of a grammar is chunked by lines, fast and without an error."""

import pickle

import pytest
from cpu_time import within_cpu_s

from prism_chunker.core import Budget, chunk_file
from prism_chunker.core.parse import MACRO_DEPTH_MAX

from .test_partition import assert_partitions

DEEP = 100_000
SECONDS_MAX = 8.0


@pytest.mark.parametrize("name", ["a.json", "a.js", "a.py", "a.c", "a.lisp"])
@pytest.mark.parametrize("shape", ["[", "{", "f(", "[]", "()"])
def test_deep_nesting(name: str, shape: str) -> None:
    head, tail = (shape[0], shape[1]) if shape in {"[]", "()"} else (shape, "")
    # Several lines: a single long line would count as minified code.
    text = "\n".join(["x = ", *[head * 100] * (DEEP // 100), *[tail * 100] * (DEEP // 100)])
    parsed = within_cpu_s(SECONDS_MAX, chunk_file, name, text)
    assert_partitions(parsed, text)


def nested_macros(depth: int) -> str:
    return "cfg! {\n" * depth + "fn inside() {}\n" + "}\n" * depth


def test_macros_in_macros_are_read_to_a_depth() -> None:
    symbols = chunk_file("a.rs", nested_macros(MACRO_DEPTH_MAX)).symbols
    assert [symbol.name for symbol in symbols] == ["inside"]
    assert chunk_file("a.rs", nested_macros(MACRO_DEPTH_MAX + 1)).symbols == ()


@pytest.mark.parametrize(
    "text", ["cfg! {", "cfg! {\n", "cfg!(", "cfg! {}", "cfg!()", "mod a { cfg! {", "cfg! { cfg! { }"]
)
def test_macros_without_an_end_or_content(text: str) -> None:
    assert chunk_file("a.rs", text).parse in {"ok", "partial"}


@pytest.mark.parametrize("head", ["cfg! {\n", "{\n", "if a {\n", "cfg! { b; } cfg! {\n"])
def test_deep_macros(head: str) -> None:
    text = "cfg! {" + head * (DEEP // 10) + "}\n" * (DEEP // 10)
    parsed = within_cpu_s(SECONDS_MAX, chunk_file, "a.rs", text)
    assert_partitions(parsed, text)


def test_a_parse_past_its_time_is_chunked_by_lines() -> None:
    text = "value = [1, 2, 3]\n" * 20_000
    parsed = chunk_file("a.py", text, budget=Budget(parse_ms_max=1))
    assert parsed.parse == "timeout"
    assert parsed.symbols == ()
    assert_partitions(parsed, text)


def test_size_limit() -> None:
    text = "a = 1\n" * 10
    assert chunk_file("a.py", text, budget=Budget(size_chars_max=60)).parse == "ok"
    parsed = chunk_file("a.py", text + "\n", budget=Budget(size_chars_max=60))
    assert parsed.parse == "too_large"
    assert_partitions(parsed, text + "\n")


def test_counts_are_capped() -> None:
    text = "def f():\n    g()\n    h()\n" * 10
    parsed = chunk_file("a.py", text, budget=Budget(symbols_max=3, references_max=4))
    assert len(parsed.symbols) == 3
    assert len(parsed.references) == 4


def test_keys_are_capped() -> None:
    text = "{" + ",\n".join(f'"k{i}": 1' for i in range(500)) + "}"
    assert len(chunk_file("a.json", text).symbols) == 200


def test_one_line_of_a_megabyte_is_one_chunk() -> None:
    text = "x=1;" * 250_000
    parsed = within_cpu_s(1, chunk_file, "a.js", text)
    assert (parsed.parse, len(parsed.chunks)) == ("lines", 1)


@pytest.mark.parametrize("text", ["1 #c", "x\n#c", "s#", 'bless r#"'])
def test_perl_without_a_last_line_end_is_read(text: str) -> None:
    assert_partitions(chunk_file("a.pl", text), text)


@pytest.mark.parametrize(
    "text", ["\x00" * 100, "def f():\n\x00\n", "def f(): return '\udcff'\n", "\ufffd\ufffd\n"]
)
def test_odd_characters(text: str) -> None:
    assert_partitions(chunk_file("a.py", text), text)


def test_arguments_and_results_can_be_pickled() -> None:
    parsed = chunk_file("a.py", "def f(): g()\n", budget=Budget())
    assert pickle.loads(pickle.dumps(parsed)) == parsed
    assert pickle.loads(pickle.dumps(Budget())) == Budget()


def test_unknown_language_is_chunked_by_lines() -> None:
    assert chunk_file("notes.unknown", "a\nb\n").parse == "lines"
    assert chunk_file("a.py", "a\n", "klingon").parse == "lines"
