"""Tests how misspelt names are matched with known ones."""

import random
import string

import pytest
from cpu_time import within_cpu_s

from prism_resolver.symbol_names import SymbolName
from prism_search.core.near_names import KnownNames, corrected_name

PARCELS = (
    "Parcel", "ParcelGroup", "Context", "Command", "Group", "Group.add_command", "add_command", "getchar",
    "weigh", "weigh_all", "Label", "Labels", "Depot.close", "close", "open", "ship", "shop",
)  # fmt: skip


def meant(asked: str, names=PARCELS, aside=()) -> str:
    name = SymbolName.read(asked)
    return corrected_name(name, KnownNames(names, aside).near(name.parts))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Contxt", "Context"),
        ("Commmand", "Command"),
        ("Comand", "Command"),
        ("getchr", "getchar"),
        ("Grup", "Group"),
        ("Group.add_comand", "Group.add_command"),
        ("Group::add_comand", "Group.add_command"),
        ("parcels.Contxt", "parcels.Context"),
        ("Prcael", ""),
        ("ParcelGruop", "ParcelGroup"),
    ],
)
def test_one_near_name_is_meant(asked, expected) -> None:
    assert meant(asked) == expected


@pytest.mark.parametrize("asked", ["shep", "Labelx", "cls", "zzqqxx", "weight_total"])
def test_doubt_corrects_nothing(asked) -> None:
    assert meant(asked) == ""


def test_spelling_in_the_same_case_is_meant() -> None:
    assert meant("Comand", ["command", "Command"]) == "Command"
    assert meant("comand", ["command", "Command"]) == "command"


def test_names_of_tests_do_not_compete() -> None:
    assert meant("Contxt", ["Context"], aside=["Contexts", "Contex"]) == "Context"


def test_near_names_are_best_first() -> None:
    near = KnownNames(PARCELS).near(("shep",))
    assert [one.name for one in near][:2] == ["ship", "shop"]


def test_names_of_a_large_corpus_are_compared_in_time() -> None:
    letters = random.Random(5)
    names = {
        "".join(letters.choices(string.ascii_lowercase, k=letters.randint(4, 24))) for _ in range(200_000)
    }
    known = KnownNames(names | {"make_context"})
    near = within_cpu_s(0.5, known.near, ("make_contxt",))  # some 30 ms
    assert near[0].name == "make_context"


def test_a_short_name_never_means_a_shorter_one() -> None:
    assert meant("clik", ["cli"]) == ""


def test_names_with_other_numbers_are_no_typing_errors() -> None:
    known = KnownNames(["balance_3", "balance"])
    assert [one.name for one in known.near(["balance_2"])] == []
    assert [one.name for one in known.near(["balanse_3"])] == ["balance_3"]
