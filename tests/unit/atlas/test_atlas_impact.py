"""The symbols that a change touches, and their dependents."""

import numpy as np
import pytest
from graph_sketch import EXTENDS, IMPORTS, Sketch, node, spelled

from prism_atlas.core.diffs import read_diff
from prism_atlas.core.impact import TEST_DEPTH_MIN, affected, touched_symbols
from prism_contracts.code import EdgeKind, Strategy

TEXT = """\
import rates
RATE = 1


# The depot.
class Depot:
    limit = 3

    def ship(
        self,
        parcel,
    ):
        return rates.rate(parcel)

    def close(self):
        pass


def load():
    def inner():
        pass
    return inner
""".splitlines()


def depot():
    """Returns the graph of the text above, with the lines of its symbols."""
    from prism_atlas.core.builder import FileRow, GraphBuilder
    from prism_chunker.core import chunk_file

    builder = GraphBuilder()
    builder.add(
        FileRow(len(TEXT), "depot.py", "d", language="python"),
        chunk_file("depot.py", "\n".join(TEXT)).symbols,
    )
    return builder.build()


def change(*changed: str) -> list[str]:
    """Hunks without context: `-6` removes line 6, `+6 text` inserts a text after line 6."""
    hunks = []
    for one in changed:
        number, _, text = one[1:].partition(" ")
        if one[0] == "-":
            hunks.append(f"@@ -{number} +{int(number) - 1},0 @@\n-{TEXT[int(number) - 1]}\n")
        else:
            hunks.append(f"@@ -{number},0 +{int(number) + 1} @@\n+{text}\n")
    return "--- a/depot.py\n+++ b/depot.py\n" + "".join(hunks)


def touched_by(*changed: str) -> list[str]:
    graph = depot()
    (file,) = read_diff(change(*changed))
    found = touched_symbols(graph, 0, [hunk.before for hunk in file.changes], TEXT)
    return [
        (spelled(graph, one.node).partition(":")[2] or "top level") + (" signature" if one.signature else "")
        for one in found
    ]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["-13"], ["Depot.ship"]),
        (["-9"], ["Depot.ship signature"]),
        (["-11"], ["Depot.ship signature"]),
        (["-12"], ["Depot.ship signature"]),
        (["-6"], ["Depot signature"]),
        (["-5"], ["Depot"]),
        (["-2"], ["RATE signature"]),
        (["-1"], ["top level"]),
        (["-21"], ["load.inner"]),
        (["-13", "-16", "-1"], ["Depot.ship", "Depot.close", "top level"]),
        (["+12         print(parcel)"], ["Depot.ship"]),
        (["+13         print(parcel)"], ["Depot.ship"]),  # indented like its body
        (["+13     size = 3"], ["Depot"]),
        (["+16         print()"], ["Depot.close"]),
        (["+16     size = 3"], ["Depot"]),
        (["+16 size = 3"], ["top level"]),
        (["+0 # new"], ["top level"]),
        (["+22 # new"], ["top level"]),
        (["+7 "], []),  # a blank line
        (["-8"], []),
    ],
)
def test_a_change_touches_the_innermost_symbol(changed, expected):
    assert touched_by(*changed) == expected


def test_change_in_a_file_without_symbols_touches_the_file():
    graph = Sketch().file("notes").graph()
    (file,) = read_diff("--- a/notes\n+++ b/notes\n@@ -1 +1 @@\n-one\n+two\n")
    assert [
        spelled(graph, one.node) for one in touched_symbols(graph, 0, [file.changes[0].before], ["one"])
    ] == ["notes"]


def hanging(graph, *changed, depth=3, candidates=True):
    nodes = np.array([node(graph, name) for name in changed], np.int32)
    found = affected(graph, np.zeros(graph.nodes, np.float32), nodes, depth, candidates=candidates)
    return [
        f"{distance} {spelled(graph, one)}" + ("" if resolved else "?") + (" test" if in_test else "")
        for one, distance, resolved, in_test in zip(
            found.nodes, found.distance, found.resolved, found.in_test, strict=True
        )
    ]


def test_path_over_a_candidate_is_a_candidate():
    sketch = Sketch().file("f", *"abcde").edge("f:b", "f:a", sure=False).edge("f:c", "f:b")
    sketch.edge("f:d", "f:a").edge("f:e", "f:d").edge("f:e", "f:b")
    graph = sketch.graph()
    assert hanging(graph, "f:a") == ["1 f:d", "1 f:b?", "2 f:e", "2 f:c?"]
    assert hanging(graph, "f:a", candidates=False) == ["1 f:d", "2 f:e"]


def test_ambiguous_user_is_shown_but_not_followed():
    sketch = Sketch().file("f", *"abcd").edge("f:b", "f:a", sure=False, strategy=Strategy.NAME)
    sketch.edge("f:c", "f:b").edge("f:d", "f:a").edge("f:b", "f:d", sure=False, strategy=Strategy.NAME)
    assert hanging(sketch.graph(), "f:a") == ["1 f:d", "1 f:b?"]


def test_longer_resolved_path_wins_over_a_candidate():
    sketch = Sketch().file("f", *"abc").edge("f:c", "f:a", sure=False).edge("f:c", "f:b").edge("f:b", "f:a")
    assert hanging(sketch.graph(), "f:a") == ["1 f:b", "2 f:c"]


def test_tests_are_searched_further_than_code():
    sketch = (
        Sketch().file("f", *(f"n{number}" for number in range(8))).file("f_test", "check", "far", flags="t")
    )
    for number in range(7):
        sketch.edge(f"f:n{number + 1}", f"f:n{number}")
    sketch.edge("f_test:check", f"f:n{TEST_DEPTH_MIN - 1}").edge("f_test:far", f"f:n{TEST_DEPTH_MIN}")
    assert hanging(sketch.graph(), "f:n0", depth=1) == ["1 f:n1", f"{TEST_DEPTH_MIN} f_test:check test"]


def test_overriding_member_is_shown_but_not_followed():
    sketch = Sketch().file("f", "Top", "Top.ship", "Low", "Low.ship", "load").edge("f:Low", "f:Top", EXTENDS)
    graph = sketch.edge("f:load", "f:Low.ship").graph()
    assert hanging(graph, "f:Top.ship") == ["1 f:Low.ship"]


def test_callers_of_an_overridden_member_are_affected():
    sketch = Sketch().file("f", "Top", "Top.ship", "Low", "Low.ship", "Other", "Other.ship", "load")
    sketch.edge("f:Low", "f:Top", EXTENDS).edge("f:Other", "f:Top", EXTENDS)
    graph = sketch.edge("f:load", "f:Top.ship").graph()
    assert hanging(graph, "f:Low.ship") == ["1 f:Top.ship", "2 f:load"]


def test_pure_importer_is_shown_once_and_not_followed():
    sketch = Sketch().file("f", "ship").file("user", "load").file("gives_on").file("third", "take")
    sketch.edge("user", "f:ship", IMPORTS).edge("user:load", "f:ship")
    sketch.edge("gives_on", "f:ship", IMPORTS).edge("third", "gives_on", IMPORTS)
    assert hanging(sketch.graph(), "f:ship") == ["1 user:load", "1 gives_on"]


@pytest.mark.parametrize(
    "kind", [EdgeKind.REFERENCES, EdgeKind.ASSIGNS, EdgeKind.ALIAS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS]
)
def test_every_kind_of_use_counts(kind):
    graph = Sketch().file("f", "Depot", "use").edge("f:use", "f:Depot", kind).graph()
    assert hanging(graph, "f:Depot") == ["1 f:use"]


def test_constructor_affects_who_makes_the_object():
    sketch = Sketch().file("f", "Depot", "Depot.__init__", "Other", "make", "run")
    sketch.edge("f:make", "f:Depot").edge("f:run", "f:make").edge("f:Other", "f:Depot", EXTENDS)
    assert hanging(sketch.graph(), "f:Depot.__init__") == ["1 f:make", "2 f:run"]


def test_constructor_on_the_way_leads_to_who_makes_the_object():
    sketch = Sketch().file("f", "Depot", "Depot.__init__", "make", "rate")
    graph = sketch.edge("f:Depot.__init__", "f:rate").edge("f:make", "f:Depot").graph()
    assert hanging(graph, "f:rate") == ["1 f:Depot.__init__", "2 f:make"]
