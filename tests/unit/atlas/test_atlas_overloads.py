"""Overloads in the graph: each has callers of its own, overrides its like, and is shown with its parameters."""

from atlas_files import graph_of

from prism_atlas.core.graph import EDGE_KINDS
from prism_atlas.core.lookup import find_symbol
from prism_atlas.core.rendering import render_node
from prism_contracts.code import EdgeKind

DEPOT = """\
interface Scale { int weigh(String name); int weigh(String name, int deep); }
class Depot implements Scale {
  Depot(int size) {}
  Depot() { this(3); }
  public int weigh(String name) { return weigh(name, 1); }
  public int weigh(String name, int deep) { return 1; }
  public int weigh(String name, boolean deep) { return 1; }
  void open() {}
}
class User { void run() { new Depot(4); } }
"""
GRAPH = graph_of({"Depot.java": DEPOT})


def edges(kind: EdgeKind) -> set[tuple[str, str]]:
    table = GRAPH.edges
    return {
        (title(table.source[edge]), title(table.target[edge]))
        for edge in range(len(table))
        if EDGE_KINDS[table.kind[edge]] is kind
    }


def title(node: int) -> str:
    return render_node(GRAPH, int(node)).title


def test_overloads_are_shown_with_their_parameters() -> None:
    shown = {title(node) for node in GRAPH.symbols_of(0)}
    assert {"Depot.weigh(String)", "Depot.weigh(String, int)", "Depot.Depot(int)", "Depot.Depot()"} <= shown
    assert "Depot.open" in shown


def test_each_overload_has_its_own_callers() -> None:
    assert edges(EdgeKind.CALLS) == {
        ("Depot.weigh(String)", "Depot.weigh(String, int)"),
        ("Depot.Depot()", "Depot.Depot(int)"),
        ("User.run", "Depot.Depot(int)"),
    }


def test_overload_overrides_the_one_with_its_parameters() -> None:
    assert edges(EdgeKind.OVERRIDES) == {
        ("Depot.weigh(String)", "Scale.weigh(String)"),
        ("Depot.weigh(String, int)", "Scale.weigh(String, int)"),
    }


def test_name_with_parameters_means_one_overload() -> None:
    one = find_symbol(GRAPH, "depot", "Depot.weigh(String, int)", "")
    assert [title(node) for node in one.nodes] == ["Depot.weigh(String, int)"]
    assert len(find_symbol(GRAPH, "depot", "Depot.weigh", "").nodes) == 3
    assert len(find_symbol(GRAPH, "depot", "Depot.weigh(Gate)", "").nodes) == 3
