"""Which overload a request means."""

import pytest
from test_definitions import matches

from prism_resolver.symbol_names import SymbolName
from prism_search.core.definitions import NameMatch
from prism_search.core.overloads import with_definition, with_parameters

JAVA = (
    "Depot.java",
    """\
class Depot {
  int weigh(String name) { return 1; }
  int weigh(final java.util.List<String> names, int deep) { return 1; }
  void open() {}
}
""",
)
SWIFT = ("Depot.swift", "class Depot {\n  func add(name: String) {}\n  func add(at place: Int) {}\n}\n")
PYTHON = ("depot.py", "class Depot:\n    def weigh(self, name): ...\n")


@pytest.mark.parametrize(
    ("file", "asked", "lines", "unknown"),
    [
        (JAVA, "Depot.weigh(String)", [2], ""),
        (JAVA, "weigh(String name)", [2], ""),
        (JAVA, "Depot.weigh(List<String> names, int deep)", [3], ""),
        (JAVA, "Depot.weigh(java.util.List, int)", [3], ""),
        (JAVA, "Depot.weigh(list,int)", [3], ""),
        (JAVA, "Depot.weigh(Gate)", [2, 3], "(Gate)"),
        (JAVA, "Depot.weigh", [2, 3], None),
        (JAVA, "Depot.open(int)", [4], None),  # the only function of its name
        (SWIFT, "Depot.add(name:)", [2], ""),
        (SWIFT, "add(at: Int)", [3], ""),
        (PYTHON, "Depot.weigh(int)", [2], None),
    ],
)
def test_parameters_after_a_name_mean_one_overload(file, asked, lines, unknown) -> None:
    found = with_parameters(NameMatch(SymbolName.read(asked), matches(asked, file)), asked)
    assert [one.symbol.name_line for one in found.found] == lines
    assert (found.overload and found.overload.parameters) == unknown
    assert found.is_one_overload == (unknown == "")


def test_place_in_an_overload_means_it() -> None:
    match = NameMatch(SymbolName.read("Depot.weigh"), matches("Depot.weigh", JAVA))
    one = with_definition(match, match.found[1].symbol)
    assert [found.symbol.name_line for found in one.found] == [3]
    assert one.overload
    assert one.overload.total == 2
    alone = NameMatch(SymbolName.read("Depot.open"), matches("Depot.open", JAVA))
    assert with_definition(alone, alone.found[0].symbol) == alone
