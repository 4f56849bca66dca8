"""Overriding members: across several types, with the least certain status, never constructors."""

from graph_sketch import EXTENDS, Sketch, spelled
from hypothesis import given
from hypothesis import strategies as st

from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES
from prism_contracts.code import EdgeKind, EdgeStatus


def overrides(graph) -> set[tuple[str, str, EdgeStatus]]:
    edges = graph.edges
    return {
        (spelled(graph, edges.source[edge])[2:], spelled(graph, edges.target[edge])[2:], EDGE_STATUSES[edges.status[edge]])
        for edge in range(len(edges))
        if EDGE_KINDS[edges.kind[edge]] is EdgeKind.OVERRIDES
    }  # fmt: skip


def test_member_overrides_its_namesakes_in_all_supertypes():
    sketch = Sketch().file("a", "Top", "Top.ship", "Middle", "Low", "Low.ship", "Low.rate", "ship")
    sketch.edge("a:Low", "a:Middle", EXTENDS).edge("a:Middle", "a:Top", EXTENDS, sure=False)
    assert overrides(sketch.graph()) == {("Low.ship", "Top.ship", EdgeStatus.CANDIDATE)}


def test_constructors_override_nothing():
    sketch = Sketch().file("a", "Top", "Top.__init__", "Low", "Low.__init__").edge("a:Low", "a:Top", EXTENDS)
    assert overrides(sketch.graph()) == set()


def test_circular_inheritance_terminates():
    sketch = Sketch().file("a", "One", "One.ship", "Two", "Two.ship")
    sketch.edge("a:One", "a:Two", EXTENDS).edge("a:Two", "a:One", EXTENDS)
    assert {pair[:2] for pair in overrides(sketch.graph())} == {
        ("One.ship", "Two.ship"),
        ("Two.ship", "One.ship"),
    }


def test_most_certain_inheritance_path_counts():
    sketch = Sketch().file("a", "Top", "Top.ship", "Left", "Low", "Low.ship")
    sketch.edge("a:Low", "a:Top", EXTENDS, sure=False)
    sketch.edge("a:Low", "a:Left", EXTENDS).edge("a:Left", "a:Top", EXTENDS)
    assert overrides(sketch.graph()) == {("Low.ship", "Top.ship", EdgeStatus.RESOLVED)}


TYPES = ["A", "B", "C", "D"]


@given(st.sets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES))), st.sets(st.sampled_from(TYPES)))
def test_overrides_equal_a_brute_force_search(extends, having):
    sketch = Sketch().file("a", *TYPES, *(f"{one}.ship" for one in sorted(having)))
    for below, above in extends:
        sketch.edge(f"a:{below}", f"a:{above}", EXTENDS)
    lines = set(extends)
    for _ in TYPES:
        lines |= {(below, higher) for below, above in lines for lower, higher in extends if lower == above}
    assert overrides(sketch.graph()) == {
        (f"{below}.ship", f"{above}.ship", EdgeStatus.RESOLVED)
        for below, above in lines
        if below != above and {below, above} <= having
    }
