"""Members that override members: through several types, by the least sure edge, and never a maker."""

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


def test_a_member_overrides_those_of_its_name_in_all_types_above():
    sketch = Sketch().file("a", "Top", "Top.ship", "Middle", "Low", "Low.ship", "Low.rate", "ship")
    sketch.edge("a:Low", "a:Middle", EXTENDS).edge("a:Middle", "a:Top", EXTENDS, sure=False)
    assert overrides(sketch.graph()) == {("Low.ship", "Top.ship", EdgeStatus.CANDIDATE)}


def test_what_makes_an_object_overrides_nothing():
    sketch = Sketch().file("a", "Top", "Top.__init__", "Low", "Low.__init__").edge("a:Low", "a:Top", EXTENDS)
    assert overrides(sketch.graph()) == set()


def test_types_that_extend_each_other_end():
    sketch = Sketch().file("a", "One", "One.ship", "Two", "Two.ship")
    sketch.edge("a:One", "a:Two", EXTENDS).edge("a:Two", "a:One", EXTENDS)
    assert {pair[:2] for pair in overrides(sketch.graph())} == {
        ("One.ship", "Two.ship"),
        ("Two.ship", "One.ship"),
    }


def test_the_surest_of_several_ways_counts():
    sketch = Sketch().file("a", "Top", "Top.ship", "Left", "Low", "Low.ship")
    sketch.edge("a:Low", "a:Top", EXTENDS, sure=False)
    sketch.edge("a:Low", "a:Left", EXTENDS).edge("a:Left", "a:Top", EXTENDS)
    assert overrides(sketch.graph()) == {("Low.ship", "Top.ship", EdgeStatus.RESOLVED)}


TYPES = ["A", "B", "C", "D"]


@given(st.sets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES))), st.sets(st.sampled_from(TYPES)))
def test_as_many_as_by_hand(extends, having):
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
