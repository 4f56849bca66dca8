"""Cards: the deep model's input for a file."""

from prism_contracts.code import Symbol, SymbolKind
from prism_indexer.core import card_text
from prism_indexer.core.cards import NAMES_MAX, SENTENCES_MAX
from prism_resolver.prose import COMMENTS_CHARS_MAX


def symbol(name, kind=SymbolKind.FUNCTION, docstring=""):
    return Symbol(
        name=name, qualified_name=name, kind=kind, start_line=1, end_line=1, name_line=1, docstring=docstring
    )


def test_card_has_path_comments_names_and_docstrings():
    symbols = [
        symbol("parseHeader", docstring="Reads one header line. It may be folded."),
        symbol("HTTPHeader", SymbolKind.CLASS, "A name and its values."),
        symbol("LIMIT", SymbolKind.CONSTANT),
    ]
    assert card_text("src/http/header_parser.py", symbols, "# How headers are read.\nimport re\n") == (
        "header parser in src, http. How headers are read. http header, parse header. "
        "Reads one header line. A name and its values"
    )


def test_a_file_without_folder_names_and_words_is_its_name():
    assert card_text("Makefile", [], "all: build\n") == "makefile"


def test_comments_of_many_languages_are_read_and_code_is_not():
    for opening in (
        "/* Cuts a text\n * into words. */\nint x;\n",
        "// Cuts a text\n// into words.\nlet x = 1\n",
        '"""Cuts a text\ninto words."""\nx = 1\n',
        "-- Cuts a text\n-- into words.\nx = 1\n",
        "{- Cuts a text\n   into words. -}\nx = 1\n",
        "<!-- Cuts a text\ninto words. -->\n<b>x</b>\n",
        "#!/bin/sh\n# Cuts a text\n# into words.\nx=1\n",
        "#include <x.h>\n#define X 1\n/** Cuts a text into words. */\n",
        "#[derive(Debug)]\n/// Cuts a text into words.\nstruct X;\n",
    ):
        assert card_text("cut.x", [], opening) == "cut. Cuts a text into words", opening


def test_licence_headers_are_left_out_of_cards():
    opening = (
        "// Copyright 2026 the authors\n// SPDX-License-Identifier: MIT\n//\n// Moves parcels.\n"
        "/* Permission is hereby granted\n THE SOFTWARE IS PROVIDED AS IS */\n"
    )
    assert (
        card_text("move.c", [symbol("m", docstring="All rights reserved.")], opening)
        == "move. Moves parcels. m"
    )


def test_docstrings_lose_markup_and_text_repeated_from_comments():
    symbols = [
        symbol("run", docstring="Runs <b>all</b> `jobs` of a {@code queue}."),
        symbol("stop", docstring="Stops what has begun and waits."),
    ]
    card = card_text("jobs.java", symbols, "// Stops what has begun and waits.\n")
    assert card == "jobs. Stops what has begun and waits. run, stop. Runs all jobs of a queue"


def test_each_part_has_a_limit():
    symbols = [
        symbol(f"name{chr(97 + i // 26)}{chr(97 + i % 26)}", docstring=f"Sentence number {i} of many.")
        for i in range(100)
    ]
    place, comments, names, sentences = card_text("a.py", symbols, f"# {'x' * 1_000}\n").split(". ", 3)
    assert place == "a"
    assert len(comments) == COMMENTS_CHARS_MAX
    assert len(names.split(", ")) == NAMES_MAX
    assert sentences.count("Sentence") == SENTENCES_MAX


def test_names_in_other_scripts_are_kept():
    assert card_text("данные/счёт.py", [symbol("найтиСчёт")], "") == "счёт in данные. найтисчёт"
