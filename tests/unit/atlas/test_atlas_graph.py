"""The graph of a repository: everything that goes in comes out, by every index, and again from a file."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_atlas.core.builder import EdgeRow, ExternalRow, FileRow, GraphBuilder
from prism_atlas.core.columns import columns_of
from prism_atlas.core.graph import EDGE_KINDS, NONE, SYMBOL_KINDS
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolKind


def symbol(name, qualified_name="", parent=-1, line=1, kind=SymbolKind.FUNCTION):
    return Symbol(
        name=name,
        qualified_name=qualified_name or name,
        kind=kind,
        start_line=line,
        end_line=line + 2,
        name_line=line + 1,
        parent=parent,
    )


def edge(source, target_file, target, line=1, kind=EdgeKind.CALLS):
    return EdgeRow(source, (target_file, target), kind, EdgeStatus.RESOLVED, Strategy.IMPORT, line)


OUTSIDE = [ExternalRow("numpy", 3), ExternalRow("json", 2)]
DEPOT = [
    symbol("Depot", kind=SymbolKind.CLASS, line=3),
    symbol("close", "Depot.close", parent=0, line=5),
    symbol("close", line=20),
]
RATES = [symbol("rate"), symbol("größe", line=9)]


def add_depot(builder):
    builder.add(FileRow(30, "src/depot.py", "d", "g1", "python"), DEPOT)
    builder.connect(
        "d", [edge(1, "r", 0, line=7), edge(NONE, "r", NONE, line=1, kind=EdgeKind.IMPORTS)], OUTSIDE
    )


def add_rates(builder):
    builder.add(FileRow(12, "src/a_rates.py", "r", "g2", "python", "t"), RATES)
    builder.connect("r", [edge(0, "r", 1, line=2), edge(0, "gone", 0)])


@pytest.fixture
def graph():
    builder = GraphBuilder()
    add_depot(builder)
    add_rates(builder)
    return builder.build()


def test_files_are_found_by_path(graph):
    assert [graph.path(file) for file in range(len(graph.files))] == ["src/a_rates.py", "src/depot.py"]
    assert graph.find_file("src/depot.py") == 1
    assert graph.find_file("src/depot") == NONE
    assert graph.find_file("rate") == NONE  # a string, but not a path
    assert graph.files.lines.tolist() == [12, 30]


def test_symbols_are_found_by_name_and_by_qualified_name(graph):
    close = graph.named("close")
    assert [graph.strings[graph.symbols.qualified_name[node]] for node in close] == ["Depot.close", "close"]
    assert graph.qualified("Depot.close").tolist() == close[:1].tolist()
    assert [graph.file_of(node) for node in close] == [1, 1]
    assert graph.symbols.parent[close].tolist() == [graph.named("Depot")[0], NONE]
    assert SYMBOL_KINDS[graph.symbols.kind[graph.named("Depot")[0]]] is SymbolKind.CLASS
    assert graph.named("größe").tolist() == [1]
    assert graph.named("clos").size == graph.named("src/depot.py").size == 0
    assert list(graph.symbols_of(1)) == [2, 3, 4]


def test_edges_are_found_from_both_ends(graph):
    rate, depot_close = graph.named("rate")[0], graph.qualified("Depot.close")[0]
    out = graph.edges_out(depot_close)
    assert graph.edges.target[out].tolist() == [rate]
    assert graph.edges.line[out].tolist() == [7]
    assert graph.edges.source[graph.edges_in(rate)].tolist() == [depot_close]
    file = graph.file_node(graph.find_file("src/depot.py"))
    assert graph.is_file(file)
    assert graph.file_of(file) == 1
    [importing] = range(*graph.edges_out(file).indices(len(graph.edges)))
    assert EDGE_KINDS[graph.edges.kind[importing]] is EdgeKind.IMPORTS
    assert graph.edges.target[importing] == graph.file_node(0)


def test_external_imports_are_listed_by_file(graph):
    modules = [graph.strings[module] for module in graph.externals.module]
    assert modules == ["json", "numpy"]
    assert graph.externals.first.tolist() == [0, 0, 2]
    assert graph.externals.line.tolist() == [2, 3]


def test_edge_to_a_missing_node_is_omitted(graph):
    assert len(graph.edges) == 3


def test_replaced_file_leaves_nothing_behind():
    builder = GraphBuilder()
    add_depot(builder)
    add_rates(builder)
    builder.build()
    builder.add(FileRow(4, "src/a_rates.py", "r", "g3"), [symbol("rates")])
    builder.connect("r", [])
    graph = builder.build()
    assert graph.strings.find("rate") == graph.strings.find("g2") == NONE
    assert len(graph.edges) == 1  # the import: the callee is gone
    builder.remove("r")
    graph = builder.build()
    assert (len(graph.files), len(graph.symbols), len(graph.edges)) == (1, 3, 0)


def test_edges_follow_a_symbol_that_moves_within_its_file():
    builder = GraphBuilder()
    add_depot(builder)
    add_rates(builder)
    builder.add(FileRow(40, "src/a_rates.py", "r"), [symbol("discount"), *RATES])
    graph = builder.build()
    [call] = range(*graph.edges_out(graph.qualified("Depot.close")[0]).indices(len(graph.edges)))
    assert graph.edges.target[call] == graph.named("rate")[0]


def test_order_of_files_does_not_matter():
    graphs = []
    for order in itertools.permutations((add_depot, add_rates)):
        builder = GraphBuilder()
        for add in order:
            add(builder)
        graphs.append(columns_of(builder.build()))
    for name, column in graphs[0].items():
        assert column.tolist() == graphs[1][name].tolist(), name


def test_graph_of_no_files_is_empty():
    graph = GraphBuilder().build()
    assert graph.nodes == len(graph.edges) == 0
    assert graph.find_file("a") == NONE
    assert graph.named("a").size == 0


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.lists(st.text(max_size=4), max_size=4), max_size=5),
    st.data(),
)
def test_graph_holds_all_files_symbols_and_edges(names, data):
    builder = GraphBuilder()
    places = [(path, at) for path, found in names.items() for at in range(NONE, len(found))]
    wanted = []
    for path, found in names.items():
        builder.add(FileRow(1, path, "id " + path), [symbol(name, line=5) for name in found])
        ends = data.draw(st.lists(st.tuples(st.sampled_from(places), st.integers(NONE, len(found) - 1))))
        builder.connect("id " + path, [edge(at, "id " + to, place) for (to, place), at in ends])
        wanted += [((path, at), target) for target, at in ends]
    graph = builder.build()

    def place(node):
        file = graph.file_of(node)
        return graph.path(file), NONE if graph.is_file(node) else node - graph.symbols_of(file).start

    found = [
        (place(source), place(target))
        for source, target in zip(graph.edges.source, graph.edges.target, strict=True)
    ]
    assert sorted(found) == sorted(wanted)
    for node in range(graph.nodes):
        assert (graph.edges.source[graph.edges_out(node)] == node).all()
        assert (graph.edges.target[graph.edges_in(node)] == node).all()
        assert graph.edges_in(node).tolist() == [
            at for at in range(len(graph.edges)) if graph.edges.target[at] == node
        ]
    for name in itertools.chain.from_iterable(names.values()):
        assert [place(node) for node in graph.named(name)] == sorted(
            (path, at) for path, found in names.items() for at, text in enumerate(found) if text == name
        )
    assert np.all(np.diff(graph.files.path) > 0)
