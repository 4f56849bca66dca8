"""Names, files and unrelated namesakes don't change the calls of a program."""

from collections.abc import Mapping

import pytest
from graph_files import facts_of
from graph_towns import NAMES, TOWNS, renamed
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_contracts.code import EdgeStatus, ReferenceKind, SymbolKind
from prism_resolver.program import Program
from prism_resolver.resolution import edges

EXAMPLES = 12
FILES_MAX = 4
# Words that no language reserves, and no rule knows.
WORDS = st.text("bcdfgjklmnpqvxz", min_size=4, max_size=8).map("w{}".format)
LAYOUTS = st.lists(st.integers(0, FILES_MAX - 1), min_size=6, max_size=6)
STEMS = st.lists(WORDS, min_size=FILES_MAX, max_size=FILES_MAX, unique=True)


def resolved_calls(files: Mapping[str, str]) -> set[tuple[str, str]]:
    """Returns (caller, called) of each resolved call, by their last names; namesakes are marked."""
    facts = {file.id: file for file in (facts_of(*one) for one in files.items())}
    program = Program()
    for file in facts.values():
        program.add(file)
    found = set()
    for file in facts.values():
        for edge in edges(program, file):
            reference, home = file.references[edge.reference], facts[edge.target.file]
            if reference.kind is ReferenceKind.IMPORT or edge.status is EdgeStatus.CANDIDATE:
                continue
            caller = file.symbols[reference.symbol].name if reference.symbol >= 0 else file.path
            target = home.symbols[edge.target.symbol]
            if target.kind in {SymbolKind.FUNCTION, SymbolKind.METHOD}:
                found.add(
                    (
                        caller,
                        f"elsewhere {target.name}" if home.path.startswith("elsewhere/") else target.name,
                    )
                )
    return found


def test_the_last_operand_of_swift_is_the_receiver() -> None:
    text = "func f() -> Int {\n    return a() + b.c().d() * e.g() - (h + i).j()\n}\n"
    found = [(one.qualifier, one.name) for one in facts_of("a.swift", text).references if one.qualifier]
    assert found == [("b", "c"), ("b.c()", "d"), ("e", "g"), ("(h + i)", "j")]


@pytest.mark.parametrize("language", TOWNS)
def test_the_program_in_one_file_has_its_calls(language) -> None:
    town = TOWNS[language]
    assert resolved_calls(town.files([0] * 6, ["all"], has_namesake=False)) == town.calls


@pytest.mark.parametrize("language", TOWNS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_other_files_change_no_call(language, data) -> None:
    town = TOWNS[language]
    files = town.files(data.draw(LAYOUTS), data.draw(STEMS), has_namesake=False)
    assert resolved_calls(files) == town.calls


@pytest.mark.parametrize("language", TOWNS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_unrelated_namesakes_change_no_call(language, data) -> None:
    town = TOWNS[language]
    files = town.files(data.draw(LAYOUTS), data.draw(STEMS), has_namesake=True)
    assert resolved_calls(files) == town.calls


@pytest.mark.parametrize("language", TOWNS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_other_names_change_no_call(language, data) -> None:
    town = TOWNS[language]
    words = data.draw(st.lists(WORDS, min_size=len(NAMES), max_size=len(NAMES), unique=True))
    names = {
        old: new.capitalize() if old[0].isupper() else new for old, new in zip(NAMES, words, strict=True)
    }
    files = town.files(data.draw(LAYOUTS), data.draw(STEMS), has_namesake=data.draw(st.booleans()))
    expected = {(names[caller], names[called]) for caller, called in town.calls}
    assert resolved_calls(renamed(files, names)) == expected
