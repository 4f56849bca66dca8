"""Implicit interfaces: matched by methods, over all files of a package."""

import pytest
from graph_sketch import EXTENDS, Sketch, node, spelled

from prism_atlas.core.builder import FileRow, GraphBuilder
from prism_atlas.core.structural import implemented, implementing
from prism_chunker.core import chunk_file

FILES = {
    "depot/store.go": "package depot\ntype Store interface {\n\tLoad() int\n\tShip()\n}\ntype Empty interface{}\n",
    "depot/dock.go": "package depot\ntype Dock struct{}\nfunc (d *Dock) Load() int { return 1 }\n",
    "depot/dock_ship.go": "package depot\nfunc (d *Dock) Ship() {}\n",
    "depot/van.go": "package depot\ntype Van struct{}\nfunc (v Van) Ship() {}\n",
    "other/dock.go": "package other\ntype Dock struct{}\nfunc (d *Dock) Load() int { return 1 }\n",
}


@pytest.fixture(scope="module")
def graph():
    builder = GraphBuilder()
    for path, text in FILES.items():
        builder.add(FileRow(9, path, path, language="go"), chunk_file(path, text).symbols)
    return builder.build()


def test_type_with_all_methods_implements_an_interface(graph):
    found = implementing(graph, node(graph, "depot/store.go:Store"))
    assert [spelled(graph, one) for one in found] == ["depot/dock.go:Dock"]


def test_empty_interface_has_no_implementations(graph):
    assert implementing(graph, node(graph, "depot/store.go:Empty")).size == 0


def test_type_implements_interfaces_whose_methods_it_has(graph):
    found = implemented(graph, node(graph, "depot/dock.go:Dock"))
    assert [spelled(graph, one) for one in found] == ["depot/store.go:Store"]
    assert implemented(graph, node(graph, "depot/van.go:Van")).size == 0
    assert implemented(graph, node(graph, "other/dock.go:Dock")).size == 0


def test_type_that_embeds_the_methods_implements_an_interface():
    sketch = Sketch().file(
        "depot/a.go", "Store", "Store.load", "Dock", "Dock.load", "Hub", "Van", language="go"
    )
    graph = sketch.edge("depot/a.go:Hub", "depot/a.go:Dock", EXTENDS).graph()
    found = implementing(graph, node(graph, "depot/a.go:Store"))
    assert [spelled(graph, one).partition(":")[2] for one in found] == ["Store", "Dock", "Hub"]
