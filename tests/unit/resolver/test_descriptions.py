"""One sentence about a file: from its own words where it has some, else from what it defines."""

import pytest
from cpu_time import within_cpu_s

from prism_chunker.core import chunk_file
from prism_resolver.descriptions import (
    DESCRIPTION_CHARS_MAX,
    DescribedFile,
    describe_file,
    describe_symbol,
)

CPU_MAX_S = 0.5


def described(path: str, text: str, flags: str = "") -> str:
    parsed = chunk_file(path, text)
    return describe_file(DescribedFile(path, parsed.language, flags, parsed.symbols, text))


def test_comment_that_opens_a_file_describes_it():
    assert described("depot.py", '"""Where parcels wait."""\n\ndef load(): ...\n') == "Where parcels wait."


@pytest.mark.parametrize(
    "doc",
    [
        '~S"""\n  Where parcels wait.\n\n  More.\n  """',
        '"Where parcels wait."',
        '"""\n  Where parcels wait.\n\n' + "  More.\n" * 400 + '  """',
    ],
)
def test_documentation_of_a_module_of_elixir_describes_its_file(doc):
    text = f"defmodule Depot do\n  @moduledoc {doc}\n\n  def load, do: 1\n\n  def drop, do: 2\nend\n"

    assert described("lib/depot.ex", text) == "Where parcels wait."


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "text.py",
            "import re\n\n# One sequence of escapes.\nESCAPES = re.compile('x')\n\ndef strip(value): ...\n\ndef wrap(value): ...\n",
        ),
        (
            "text.py",
            "# variant: no call, directly as decorator.\ndef strip(value): ...\n\ndef wrap(value): ...\n",
        ),
        (
            "text.ts",
            "/** The width of a tab in cells. */\nexport function strip() {}\n\nexport function wrap() {}\n",
        ),
        (
            "text.py",
            'def strip(value):\n    return value\n\ndef wrap(value):\n    """Makes lines of equal length."""\n',
        ),
    ],
)
def test_words_about_one_of_several_definitions_are_not_about_the_file(path, text):
    assert described(path, text) == "Defines the functions strip and wrap."


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        (
            "parcel_box.py",
            'class Lid: ...\n\nclass ParcelBox:\n    """Holds parcels of one customer."""\n\n    def close(self): ...\n',
            "ParcelBox: Holds parcels of one customer.",
        ),
        (
            "src/dock/mod.rs",
            "mod crane;\n\n/// A place where vans unload.\npub struct Dock { pub id: u32 }\n",
            "Dock: A place where vans unload.",
        ),
        (
            "store.go",
            "// Package depot keeps parcels.\npackage depot\n\n// Store keeps parcels on a disk.\ntype Store struct{}\n",
            "Store keeps parcels on a disk.",
        ),
        (
            "depot.go",
            "// Package depot keeps parcels.\npackage depot\n\n// Store keeps parcels on a disk.\ntype Store struct{}\n",
            "Package depot keeps parcels.",
        ),
    ],
)
def test_main_definition_describes_a_file(path, text, sentence):
    assert described(path, text) == sentence


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        ("shelf.py", "class Shelf:\n    def put(self): ...\n", "Defines the class Shelf with the method put."),
        (
            "sort.go",
            "package depot\n\nfunc (d *Depot) Sort() {}\n\nfunc (d *Depot) Count() int { return 1 }\n",
            "Defines the methods Sort and Count of Depot.",
        ),
        ("src/lib.rs", "pub mod crane;\nmod dock;\n", "Gathers the modules crane and dock."),
        ("src/index.ts", "export * from './crane'\nexport { Dock } from '../dock/index'\n", "Gathers the modules crane and dock."),
        ("depot/__init__.py", "from depot.crane import Crane\nfrom .dock import Dock\nimport os\n", "Gathers the modules crane and dock."),
        ("count-parcels.ts", "async function main() {}\nmain()\n", "Program count parcels."),
        ("empty.py", "", ""),
    ],
)  # fmt: skip
def test_file_without_words_is_described_by_its_definitions(path, text, sentence):
    assert described(path, text) == sentence


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        (
            "tests/test_dock.py",
            "def test_van_unloads():\n    # Not about the file.\n    pass\n\ndef test_crane(): ...\n",
            "Tests of dock: van unloads, crane.",
        ),
        ("dock_test.go", "package depot\n\nfunc TestUnload(t *testing.T) {}\n", "Tests of dock: unload."),
        ("src/index.test.ts", "describe('Dock of a depot', () => {})\n", "Tests of Dock of a depot."),
        (
            "DockTest.java",
            "/** Checks that vans unload. */\npublic class DockTest { void testUnload() {} }\n",
            "DockTest: Checks that vans unload.",
        ),
        (
            "tests/support.py",
            'def depot():\n    """Returns a depot with parcels."""\n    return 1\n',
            "depot: Returns a depot with parcels.",
        ),
    ],
)
def test_tests_are_described_by_what_they_test(path, text, sentence):
    assert described(path, text, flags="t") == sentence


def test_description_is_cut_between_words():
    names = [f"handle_the_parcel_of_customer_number_{number}_with_care" for number in range(9)]
    text = "".join(f"def {name}(value):\n    return value\n\n" for name in names)
    sentence = described("parcels.py", text)
    assert len(sentence) <= DESCRIPTION_CHARS_MAX
    assert sentence.endswith("…")
    assert sentence[:-1].split()[-1] in {*names, *(f"{name}," for name in names)}


def test_symbol_without_docstring_is_described_by_its_kind():
    text = 'class Dock:\n    """A place."""\n\n    def unload(self): ...\n'
    dock, unload = chunk_file("dock.py", text).symbols
    assert describe_symbol(dock) == "Dock: A place."
    assert describe_symbol(unload) == "Method Dock.unload."


@pytest.mark.parametrize("line", ["# describe('", "from .a import b\n", "mod a;", "export ", "export {\n", "#!\n", "# \n", "[", "`"])  # fmt: skip
def test_description_takes_linear_time(line):
    opening = line * 20_000
    within_cpu_s(CPU_MAX_S, describe_file, DescribedFile("tests/index.ts", "typescript", "t", (), opening))
    within_cpu_s(CPU_MAX_S, describe_file, DescribedFile("README.md", "markdown", "", (), opening))
