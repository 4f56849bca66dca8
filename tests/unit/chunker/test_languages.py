"""The symbols of a small file of each language, compared with its golden file.

A golden file holds a line a symbol, a line a reference and a line a binding. After a change of a query, `PRISM_GOLDEN=write pytest
tests/unit/chunker/test_languages.py` rewrites them: read the diff.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from prism_chunker.core import Parsed, chunk_file
from prism_chunker.core.languages.table import LANGUAGES
from prism_chunker.core.parse import QUERIES
from prism_contracts.code import PACKAGE

FIXTURES = Path(__file__).parents[2] / "fixtures" / "chunker"
SAMPLES = sorted(path for path in FIXTURES.iterdir() if path.suffix != ".golden")


def rendered(parsed: Parsed) -> str:
    return "\n".join(
        [
            f"{parsed.language} {parsed.parse}",
            *symbol_lines(parsed),
            *reference_lines(parsed),
            *binding_lines(parsed),
            "",
        ]
    )


def symbol_lines(parsed: Parsed) -> Iterator[str]:
    for symbol in parsed.symbols:
        mark = "+" if symbol.exported else "-"
        lines = f"{symbol.start_line}-{symbol.end_line}:{symbol.name_line}"
        yield f"{mark} {symbol.kind} {symbol.qualified_name} {lines} ^{symbol.parent} | {symbol.signature} | {symbol.docstring}"


def reference_lines(parsed: Parsed) -> Iterator[str]:
    for reference in parsed.references:
        alias = f" as {reference.alias}" if reference.alias else ""
        qualifier = f"{reference.qualifier} -> " if reference.qualifier else ""
        yield f"> {reference.line} {reference.kind} {qualifier}{reference.name}{alias} ^{reference.symbol}"


def binding_lines(parsed: Parsed) -> Iterator[str]:
    for binding in parsed.bindings:
        type_ = f": {binding.type}" if binding.type else ""
        made_by = f" = {binding.made_by}()" if binding.made_by else ""
        yield f"= {binding.line} {binding.name or 'returns'}{type_}{made_by} ^{binding.symbol}"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_symbols_of_a_sample_equal_its_golden_file(path: Path) -> None:
    golden = path.with_name(path.name + ".golden")
    found = rendered(chunk_file(path.name, path.read_text(encoding="utf-8")))
    if os.environ.get("PRISM_GOLDEN") == "write":
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


def test_every_language_with_queries_has_a_sample() -> None:
    sampled = {chunk_file(path.name, path.read_text(encoding="utf-8")).language for path in SAMPLES}
    assert {language.id for language in LANGUAGES.values() if language.reader != "lines"} <= sampled | {
        "astro"
    }


def test_every_query_file_is_used() -> None:
    used = {name for language in LANGUAGES.values() for name in language.queries}
    assert used == {path.stem for path in QUERIES.glob("*.scm")}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_positions_point_at_what_they_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    rows = text.split("\n")
    parsed = chunk_file(path.name, text)
    for index, symbol in enumerate(parsed.symbols):
        assert symbol.start_line <= symbol.name_line <= symbol.end_line <= parsed.line_count
        assert symbol.name.split()[0].strip("\"'") in rows[symbol.name_line - 1].replace("`", "")
        assert -1 <= symbol.parent < len(parsed.symbols)
        assert symbol.parent != index
    for reference in parsed.references:
        name = (reference.alias if reference.name in {"default", "*"} else "") or reference.name
        assert name.split()[0] in rows[reference.line - 1]
        assert -1 <= reference.symbol < len(parsed.symbols)
    for binding in parsed.bindings:
        if binding.name == PACKAGE:
            continue  # a keyword, for which PHP has another one
        assert binding.name.split(".")[-1] in rows[binding.line - 1]
        assert -1 <= binding.symbol < len(parsed.symbols)
