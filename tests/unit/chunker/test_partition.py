"""Every line of a file is in exactly one chunk, whatever the contents."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_chunker.core import Parsed, chunk_file
from prism_chunker.core.chunks import CHUNK_CHARS_MAX, CHUNK_LINES_MAX

FIXTURES = Path(__file__).parents[2] / "fixtures" / "chunker"
ODD_TEXTS = [
    "a",
    "\n",
    "\n\n",
    "a\r\nb\r\n",
    "a\rb\rc",
    "a\x0cb\n",
    "x\u2028y\u2029\n",
    "a\n\nb",
    "\ufeffa\n",
    "\x00\n\x00",
]
PATHS = ["a.py", "a.ts", "a.js", "a.go", "a.md", "a.rs", "a.c", "a.yaml", "a.rst", "a.vue", "a.unknown"]
MUTATED = [
    "sample.py",
    "sample.ts",
    "sample.go",
    "sample.rs",
    "sample.java",
    "sample.c",
    "sample.cpp",
    "sample.rb",
    "sample.md",
]
SPLINTERS = [
    "{",
    "}",
    "(",
    '"""',
    "'",
    "/*",
    "\n\n",
    "\t",
    "\r\n",
    "\x00",
    "#",
    "\n#if A\n",
    "\n#else\n",
    "\n#endif\n",
    "é",
    "\U0001f600",
    "\u2028",
    "x" * 4_000,
]


def assert_partitions(parsed: Parsed, text: str) -> None:
    assert "".join(chunk.text for chunk in parsed.chunks) == text
    next_line = 1
    for ordinal, chunk in enumerate(parsed.chunks):
        assert chunk.ordinal == ordinal
        assert chunk.start_line == next_line
        rows = chunk.end_line - chunk.start_line + 1
        assert chunk.text.count("\n") == rows - (not chunk.text.endswith("\n"))
        assert rows <= CHUNK_LINES_MAX
        assert len(chunk.text) <= CHUNK_CHARS_MAX or rows == 1
        next_line = chunk.end_line + 1
    assert parsed.line_count == next_line - 1


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts(path: str, text: str) -> None:
    assert_partitions(chunk_file(path, text), text)


@pytest.mark.parametrize("path", PATHS)
def test_empty_file_has_no_chunks(path: str) -> None:
    parsed = chunk_file(path, "")
    assert (parsed.chunks, parsed.line_count) == ((), 0)


@given(st.text(), st.sampled_from(PATHS))
def test_any_text(text: str, path: str) -> None:
    assert_partitions(chunk_file(path, text), text)


@st.composite
def mutated_samples(draw: st.DrawFn) -> tuple[str, str]:
    """A sample, repeated so that it must be split, with some syntax errors."""
    name = draw(st.sampled_from(MUTATED))
    text = (FIXTURES / name).read_text(encoding="utf-8") * draw(st.integers(1, 8))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 200)))
        text = text[:start] + draw(st.sampled_from(SPLINTERS)) + text[end:]
    return name, text


@given(mutated_samples())
def test_mutated_code(sample: tuple[str, str]) -> None:
    name, text = sample
    parsed = chunk_file(name, text)
    assert parsed.parse in {"ok", "partial", "lines"}
    assert_partitions(parsed, text)
    assert all(symbol.end_line <= parsed.line_count for symbol in parsed.symbols)
    assert chunk_file(name, text) == parsed
