"""The language of a file by its name, its first line, its content."""

from collections import Counter

import pytest
from cpu_time import within_cpu_s

from prism_chunker.core import detect_language
from prism_chunker.core.languages.table import LANGUAGES
from prism_chunker.core.parse import QUERIES
from prism_contracts import code


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("src/a.py", "", "python"),
        ("A.PY", "", "python"),
        ("a.tsx", "", "tsx"),
        ("a.d.ts", "", "typescript"),
        ("Dockerfile", "", "dockerfile"),
        ("Dockerfile.dev", "", "dockerfile"),
        ("Makefile", "", "make"),
        ("x/CMakeLists.txt", "", "cmake"),
        ("requirements.txt", "", "requirements"),
        ("notes.txt", "", "text"),
        ("go.mod", "", "go-mod"),
        ("README", "", "markdown"),
        ("LICENSE", "", "text"),
        ("run", "#!/usr/bin/env python3\n", "python"),
        ("run", "#!/bin/bash -e\n", "bash"),
        ("run", "#!/usr/bin/env -S node --x\n", "javascript"),
        ("run", "plain", ""),
        ("a.h", "int add(int a);\n", "c"),
        ("a.h", "/* a virtual terminal,\n   class of its own */\nint add(int a); // may override it\n", "c"),
        ("a.h", "struct Cart { virtual void add(); };\n", "cpp"),
        ("a.h", "namespace shop { class Cart; }\n", "cpp"),
        ("a.h", "@interface Cart\n@end\n", "objc"),
        ("a.m", "@implementation Cart\n@end\n", "objc"),
        ("a.m", "function c = add(a, b)\n", "matlab"),
        ("a.ts", "<?xml version='1.0'?>\n<TS/>", "xml"),
        ("a.pl", "package Shop;\n", "perl"),
        ("a.pl", "parent(X, Y) :- child(Y, X).\n", "prolog"),
        ("a.v", "module cart; endmodule\n", "verilog"),
        ("a.v", "Theorem x : True.\nProof.\n", "coq"),
        (".bashrc", "", "bash"),
        ("a.unknown", "", ""),
        ("", "", ""),
    ],
)
def test_detect(path: str, text: str, language: str) -> None:
    assert detect_language(path, text) == language


@pytest.mark.parametrize("field", ["extensions", "filenames", "interpreters"])
def test_no_two_languages_claim_one_name(field: str) -> None:
    claims = Counter(name for language in LANGUAGES.values() for name in getattr(language, field))
    assert [name for name, count in claims.items() if count > 1] == []


def test_many_languages_are_known() -> None:
    assert len(LANGUAGES) > 130
    assert sum(language.reader == "syntax" for language in LANGUAGES.values()) > 60


def test_the_languages_are_those_of_the_contract() -> None:
    assert LANGUAGES.keys() == code.LANGUAGES


def test_languages_with_calls_are_those_whose_queries_find_them() -> None:
    captured = {
        language.id
        for language in LANGUAGES.values()
        if language.reader == "component"
        or (
            language.reader == "syntax"
            and any("@call" in (QUERIES / f"{name}.scm").read_text("utf-8") for name in language.queries)
        )
    }
    assert captured == code.CALLING_LANGUAGES


@pytest.mark.parametrize("extension", ["h", "m", "pl", "v"])
@pytest.mark.parametrize("text", ["\n" * 90_000, " \t" * 45_000, "/*" * 45_000, "/*/" * 30_000])
def test_detection_takes_linear_time(extension: str, text: str) -> None:
    within_cpu_s(1.0, detect_language, f"a.{extension}", text)
