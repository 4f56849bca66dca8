"""Calls without an edge, by what they call."""

import pytest
from atlas_files import graph_of
from graph_sketch import Sketch, node

from prism_atlas.core.unresolved_calls import unresolved_calls, unresolved_stops
from prism_contracts.rpc.graph import StopReason

VALUE, OUTSIDE = StopReason.VALUE, StopReason.OUTSIDE


def found(*lines, edges=()):
    sketch = Sketch().file("f", "ship", "rate", "Depot", "Depot.close")
    for line, target in edges:
        sketch.edge("f:ship", f"f:{target}", line=line)
    graph = sketch.graph()
    text = "\n".join(["def ship(parcel, then):", *lines])
    return [
        (one.line, one.called, one.reason) for one in unresolved_calls(graph, node(graph, "f:ship"), text)
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    loaders[i](parcel)", [("loaders[i]", VALUE)]),
        ("    self.callback(1)", [("self.callback", VALUE)]),
        ("    depot.close()", [("depot.close", VALUE)]),  # a method of the repository, on an unknown receiver
        ("    then(parcel)", [("then", VALUE)]),
        ("    json.loads(len(parcel))", [("json.loads", OUTSIDE), ("len", OUTSIDE)]),
        ("    close(1)", [("close", OUTSIDE)]),  # no function of the repository, only a method
        ("    if (parcel): return (1)", []),
        ('    x = "rate(1)"  # rate(2)', []),
        ("    def inner(a): pass", []),
        ("    // rate(3)", []),
    ],
)
def test_call_without_an_edge_has_its_reason(line, expected):
    assert found(line) == [(2, *one) for one in expected]


def test_call_with_an_edge_is_resolved():
    assert found("    rate(1)", edges=[(2, "rate")]) == []
    assert found("    rate(rate(1))", edges=[(2, "rate")]) == [(2, "rate", VALUE)]


def test_edge_behind_an_alias_explains_one_call():
    assert found("    price(1)", edges=[(2, "rate")]) == []


def test_call_on_the_result_of_a_call_is_one_of_two():
    assert found("    rate().close()", edges=[(2, "rate")]) == [(2, "rate().close", VALUE)]


def test_docstrings_have_no_calls():
    assert found('    """Calls rate(1),', "    then close(2).", '    """', "    then(1)") == [
        (5, "then", VALUE)
    ]


def test_stored_value_is_found_where_it_is_assigned():
    assert found("    run = make()", "    run()") == [(2, "make", OUTSIDE), (3, "run", VALUE)]


def test_stop_lists_each_line_once_and_each_outside_name_once():
    graph = Sketch().file("f", "ship").graph()
    text = "def ship(a, b):\n    a(1); b(2)\n    len(3)\n    len(4)"
    stored, outside = unresolved_stops(graph, [(node(graph, "f:ship"), text)])
    assert (stored.count, [(line.line, line.text) for line in stored.lines]) == (1, [(2, "a(1); b(2)")])
    assert (outside.count, [(line.line, line.text) for line in outside.lines]) == (1, [(3, "len")])


def test_calls_of_wanted_names_come_first():
    graph = Sketch().file("f", "ship", "rate", "Depot", "Depot.close").graph()
    text = "def ship(depot, one):\n    self.weigh(1)\n    one(2)\n    depot.close()\n"
    (stored,) = unresolved_stops(graph, [(node(graph, "f:ship"), text)], {"close"})
    assert [line.line for line in stored.lines] == [4, 2, 3]
    (stored,) = unresolved_stops(graph, [(node(graph, "f:ship"), text)])
    assert [line.line for line in stored.lines] == [2, 3, 4]


STORED = """\
from typing import Final

def load_text(path): ...
def load_data(path): ...

LOADERS = {
    "text": load_text,
    "data": load_data,
}


class Depot:
    def __init__(self, execute):
        self._execute: Final = execute

    def run(self, kind, path):
        self._execute(self.paths(path))
        town.LOADERS[kind](path)
        unknown(path)


class Town:
    def _execute(self, path): ...

    def depot(self):
        return Depot(self._execute)
"""


def test_stop_names_what_the_called_name_may_hold():
    graph = graph_of({"depot.py": STORED})
    run = node_of(graph, "Depot.run")
    lines = STORED.split("\n")
    text = "\n".join(lines[int(graph.symbols.start_line[run]) - 1 : int(graph.symbols.end_line[run])])
    (stop,) = [one for one in unresolved_stops(graph, [(run, text)]) if one.reason is VALUE]
    held = {one.name: [function.symbol for function in one.functions] for one in stop.stored}
    assert held == {"_execute": ["Town._execute"], "LOADERS": ["load_text", "load_data"]}
    (execute,) = [one for one in stop.stored if one.name == "_execute"]
    assert execute.places == ("depot.py:14", "depot.py:26")


def node_of(graph, qualified_name: str) -> int:
    return int(graph.qualified(qualified_name)[0])
