"""Replies to questions about a graph: pages, ambiguous names, missing symbols."""

import itertools
from datetime import UTC, datetime

import numpy as np
import pytest
from atlas_files import graph_of
from graph_sketch import CLASS, EXTENDS, FUNCTION, IMPORTS, Sketch

from prism_atlas.core.answering.call_hierarchy import call_hierarchy
from prism_atlas.core.answering.common import one_symbol
from prism_atlas.core.answering.dependencies import dependencies_of
from prism_atlas.core.answering.impact import ChangeSet, impact_of, impact_of_symbol, read_change
from prism_atlas.core.answering.path import find_path
from prism_atlas.core.answering.type_hierarchy import type_hierarchy
from prism_atlas.core.diffs import read_diff
from prism_atlas.core.file_graph import file_edges, graph_of_files
from prism_atlas.core.hierarchy import BRANCHES_MAX
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import (
    CallDirection,
    CallHierarchyRequest,
    DependenciesRequest,
    DependencyDirection,
    DiffState,
    FindPathRequest,
    ImpactRequest,
    StopReason,
    TypeHierarchyRequest,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RECEIPT = GraphReceipt(
    repo="acme/parcels",
    indexed_commit="a" * 40,
    head_commit="a" * 40,
    lag_seconds=0,
    indexed_at=NOW,
    corpus_version=1,
    files_indexed=2,
    files_skipped=0,
    files_failed=0,
    graph_commit="a" * 40,
    graph_version=1,
    graph_built_at=NOW,
)
CALLEES = CallDirection.CALLEES


def no_ranks(graph):
    return np.zeros(graph.nodes, np.float32)


def places(nodes):
    return [f"{node.file_path}:{node.symbol}" for node in nodes]


def code(question):
    with pytest.raises(PrismError) as error:
        question()
    assert error.value.body.next_action
    return error.value.code, error.value.body.details


# Names


def named():
    sketch = Sketch().file("a/depot", "Depot", "Depot.ship", "ship", "load")
    sketch.file("b/dock", "Dock", "Dock.ship", "load").file("t/depot", "Depot", "check", flags="t")
    return sketch.graph()


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("Depot.ship", "", ["a/depot:Depot.ship"]),
        ("Dock::ship()", "", ["b/dock:Dock.ship"]),
        ("ship", "", ["a/depot:ship"]),  # a whole name, not the end of one
        ("Depot", "", ["a/depot:Depot"]),  # code before tests
        ("Depot", "t/depot", ["t/depot:Depot"]),
        ("load", "b/dock", ["b/dock:load"]),
        ("load", "dock", ["b/dock:load"]),
        ("a/depot:12", "", ["a/depot:Depot.ship"]),
        ("a/depot:41", "", ["a/depot:"]),
        ("b/dock", "", ["b/dock:"]),
        ("a/depot.load", "", ["a/depot:load"]),
    ],
)
def test_symbol_is_found_under_each_spelling(name, path, expected):
    graph = named()
    request = CallHierarchyRequest(tenant="t", symbol=name, path=path)
    assert places(call_hierarchy(graph, request, RECEIPT).roots) == expected


@pytest.mark.parametrize("name", ["a/depot:0", "a/depot:1000"])
def test_line_past_the_end_of_a_file_is_refused(name):
    error, details = code(lambda: one_symbol(named(), "acme/parcels", name, ""))
    assert error is ErrorCode.INVALID_ARGUMENT
    assert details["line_count"] == named().files.lines[named().find_file("a/depot")]


def test_ambiguous_name_lists_its_matches():
    error, details = code(lambda: one_symbol(named(), "acme/parcels", "load", ""))
    assert error is ErrorCode.SYMBOL_AMBIGUOUS
    assert details["definitions"] == ["a/depot:31 load", "b/dock:21 load"]
    assert details["total"] == 2


def test_further_matches_of_a_name_are_reported():
    reply = call_hierarchy(named(), CallHierarchyRequest(tenant="t", symbol="Depot"), RECEIPT)
    assert places(reply.others) == ["t/depot:Depot"]


def test_constructor_is_not_another_match_of_its_type():
    graph = Sketch().file("a", "Depot", "Depot.Depot").file("t", "Depot", flags="t").graph()
    reply = call_hierarchy(graph, CallHierarchyRequest(tenant="t", symbol="Depot"), RECEIPT)
    assert (places(reply.roots), places(reply.others)) == (["a:Depot"], ["t:Depot"])


def test_missing_symbol_is_reported():
    assert code(lambda: one_symbol(named(), "acme/parcels", "lorry", ""))[0] is ErrorCode.SYMBOL_NOT_FOUND
    assert code(lambda: one_symbol(named(), "acme/parcels", "load", "c"))[0] is ErrorCode.SYMBOL_NOT_FOUND
    assert code(lambda: one_symbol(named(), "acme/parcels", "", ""))[0] is ErrorCode.SYMBOL_NOT_FOUND


def test_declarations_in_several_files_are_one_symbol():
    sketch = Sketch().file("depot.h", "ship", language="cpp").file("depot.cc", "ship", language="cpp")
    request = CallHierarchyRequest(tenant="t", symbol="ship")
    assert places(call_hierarchy(sketch.graph(), request, RECEIPT).roots) == ["depot.cc:ship", "depot.h:ship"]


# Calls


@pytest.mark.parametrize(("depth", "expected"), [(1, []), (2, ["f:c"]), (3, [])])
def test_stop_names_where_a_tree_ends(depth, expected):
    graph = Sketch().file("f", *"abcd").edge("f:b", "f:a").edge("f:c", "f:b").edge("f:d", "f:c").graph()
    request = CallHierarchyRequest(tenant="t", symbol="a", depth=depth)
    stops = call_hierarchy(graph, request, RECEIPT).stops
    assert [places(stop.nodes) for stop in stops if stop.reason is StopReason.DEPTH] == [expected] * bool(
        expected
    )


def test_impact_has_every_direct_call_site_and_no_helpers():
    sketch = Sketch().file("a", "ship", "load", "run").file("t", "helper", "check", flags="t")
    for line in (21, 13, 13):
        sketch.edge("a:load", "a:ship", line=line)
    sketch.edge("a:run", "a:load", line=24).edge("t:helper", "a:ship").edge("t:check", "t:helper")
    graph = sketch.graph()
    resolved_name = one_symbol(graph, "acme/parcels", "ship", "")
    request = ImpactRequest(tenant="t", symbol="ship", depth=1)
    reply = impact_of_symbol(graph, no_ranks(graph), resolved_name, request, RECEIPT)
    assert [(one.node.symbol, one.via.lines) for one in reply.affected] == [("load", (13, 21))]
    assert [(one.node.symbol, one.distance) for one in reply.tests] == [("check", 2)]
    assert [(stop.reason, places(stop.nodes)) for stop in reply.stops] == [(StopReason.DEPTH, ["a:load"])]


def test_callers_are_paged():
    sketch = Sketch().file("a", "ship", *(f"load{number}" for number in range(7)))
    for number in range(7):
        sketch.edge(f"a:load{number}", "a:ship")
    graph = sketch.graph()
    cursor, seen = "", []
    for size in (3, 3, 1):
        request = CallHierarchyRequest(tenant="t", symbol="ship", limit=3, cursor=cursor)
        reply = call_hierarchy(graph, request, RECEIPT)
        assert (len(reply.branches), reply.total) == (size, 7)
        seen += [branch.node.symbol for branch in reply.branches]
        cursor = reply.next_cursor
    assert cursor == ""
    assert seen == [f"load{number}" for number in range(7)]


def test_cursor_belongs_to_one_question():
    sketch = Sketch().file("a", "ship", "load", "wait").edge("a:load", "a:ship").edge("a:wait", "a:ship")
    graph = sketch.graph()
    cursor = call_hierarchy(
        graph, CallHierarchyRequest(tenant="t", symbol="ship", limit=1), RECEIPT
    ).next_cursor
    request = CallHierarchyRequest(tenant="t", symbol="load", limit=1, cursor=cursor)
    assert code(lambda: call_hierarchy(graph, request, RECEIPT))[0] is ErrorCode.INVALID_CURSOR


def test_uses_other_than_calls_are_counted():
    sketch = Sketch().file("a", "Depot", "ship").file("b", "load").edge("b", "a:Depot", IMPORTS)
    sketch.edge("b:load", "a:Depot", EdgeKind.REFERENCES).edge("b:load", "a:Depot", EdgeKind.REFERENCES, 2)
    reply = call_hierarchy(sketch.graph(), CallHierarchyRequest(tenant="t", symbol="Depot"), RECEIPT)
    assert reply.total == 0
    assert reply.other_uses == {EdgeKind.IMPORTS: 1, EdgeKind.REFERENCES: 2}


def test_call_of_a_function_by_a_nested_one_is_recursive():
    sketch = Sketch().file("a", "ship", "ship.again", "Depot", "Depot.load")
    graph = (
        sketch.edge("a:ship", "a:ship.again", line=2)
        .edge("a:ship.again", "a:ship", line=12)
        .edge("a:Depot.load", "a:Depot", line=32)
        .graph()
    )
    request = CallHierarchyRequest(tenant="any", symbol="ship", direction=CALLEES)
    (branch,) = call_hierarchy(graph, request, RECEIPT).branches
    assert (branch.node.symbol, branch.recursive, branch.via.lines) == ("ship", True, (12,))
    of_class = request.model_copy(update={"symbol": "Depot"})
    assert not call_hierarchy(graph, of_class, RECEIPT).branches


def test_source_only_leaves_out_and_counts_what_is_in_tests():
    sketch = Sketch().file("a", "Depot", "ship", "load").file("t", "Van", "check", "helper", flags="t")
    graph = (
        sketch.edge("a:load", "a:ship")
        .edge("t:check", "a:ship")
        .edge("t:check", "a:load")
        .edge("t:Van", "a:Depot", EXTENDS)
        .graph()
    )
    asked = {"tenant": "any", "source_only": True}
    callers = call_hierarchy(graph, CallHierarchyRequest(symbol="ship", **asked), RECEIPT)
    assert [branch.node.symbol for branch in callers.branches] == ["load"]
    assert (callers.total, callers.tests_left_out) == (1, 1)
    # Only a test calls `load`: the tree does not go on there.
    assert not call_hierarchy(graph, CallHierarchyRequest(symbol="ship", depth=1, **asked), RECEIPT).stops
    types = type_hierarchy(graph, TypeHierarchyRequest(symbol="Depot", **asked), RECEIPT)
    assert (types.subtypes, types.tests_left_out) == ((), 1)
    request = ImpactRequest(symbol="ship", **asked)
    named = one_symbol(graph, "acme/parcels", "ship", "")
    impact = impact_of_symbol(graph, no_ranks(graph), named, request, RECEIPT)
    assert [one.node.symbol for one in impact.affected] == ["load"]
    assert (impact.tests, impact.total_tests, impact.tests_left_out) == ((), 0, 1)


def test_callees_of_a_file_include_its_symbols():
    sketch = Sketch().file("a", "ship", "load").file("b", "rate", "wait")
    sketch.edge("a:ship", "b:rate").edge("a:ship", "a:load").edge("a", "b:wait")
    reply = call_hierarchy(
        sketch.graph(), CallHierarchyRequest(tenant="t", symbol="a", direction=CALLEES), RECEIPT
    )
    assert places(branch.node for branch in reply.branches) == ["b:rate", "b:wait"]


# Types


def types():
    sketch = Sketch().file(
        "a", "Top", "Top.ship", "Top.load", "Low", "Low.ship", "Lowest", "Lowest.load", "rate"
    )
    return sketch.edge("a:Low", "a:Top", EXTENDS).edge("a:Lowest", "a:Low", EXTENDS).graph()


def test_type_hierarchy_lists_overriding_members():
    reply = type_hierarchy(
        types(), TypeHierarchyRequest(tenant="t", symbol="Top", include_members=True), RECEIPT
    )
    assert places(branch.node for branch in reply.subtypes) == ["a:Low", "a:Lowest"]
    assert [places(branch.overrides) for branch in reply.subtypes] == [["a:Low.ship"], ["a:Lowest.load"]]
    assert reply.supertypes == ()
    reply = type_hierarchy(
        types(), TypeHierarchyRequest(tenant="t", symbol="Lowest", include_members=True), RECEIPT
    )
    assert places(branch.node for branch in reply.supertypes) == ["a:Low", "a:Top"]
    assert [places(branch.overrides) for branch in reply.supertypes] == [[], ["a:Top.load"]]


def test_non_type_is_refused_with_its_enclosing_type():
    request = TypeHierarchyRequest(tenant="t", symbol="Low.ship")
    with pytest.raises(PrismError, match="is a method, not a type") as error:
        type_hierarchy(types(), request, RECEIPT)
    assert "Low" in error.value.body.next_action
    assert code(lambda: type_hierarchy(types(), TypeHierarchyRequest(tenant="t", symbol="rate"), RECEIPT))[
        0
    ] is (ErrorCode.INVALID_ARGUMENT)


def test_type_wins_over_other_matches_of_its_name():
    sketch = Sketch().file("a", "Depot()", "Depot", "Small").file("b", "Depot()")
    graph = sketch.edge("a:Small", "a:Depot", EXTENDS).graph()
    reply = type_hierarchy(graph, TypeHierarchyRequest(tenant="t", symbol="Depot"), RECEIPT)
    assert [(root.file_path, root.kind) for root in reply.roots] == [("a", FUNCTION), ("a", CLASS)]
    assert places(branch.node for branch in reply.subtypes) == ["a:Small"]
    assert code(lambda: one_symbol(graph, "acme/parcels", "Depot", ""))[0] is ErrorCode.SYMBOL_AMBIGUOUS


def test_go_types_have_a_note_about_implicit_subtypes():
    graph = Sketch().file("a.go", "Store", language="go").graph()
    reply = type_hierarchy(graph, TypeHierarchyRequest(tenant="t", symbol="Store"), RECEIPT)
    assert reply.total_subtypes == 0
    assert reply.note


# Paths


def path(graph, source, target, **more):
    request = FindPathRequest(tenant="t", source=source, target=target, **more)
    return find_path(graph, graph_of_files(graph, file_edges(graph)), request, RECEIPT)


def test_calls_come_before_other_uses():
    sketch = Sketch().file("a", "ship", "load", "rate").edge("a:ship", "a:rate", EdgeKind.REFERENCES)
    sketch.edge("a:ship", "a:load").edge("a:load", "a:rate")
    reply = path(sketch.graph(), "ship", "rate")
    assert [places(one.nodes) for one in reply.paths] == [["a:ship", "a:load", "a:rate"]]
    assert [search.edges for search in reply.searches] == ["calls"]
    assert [edge.edge for edge in reply.paths[0].edges] == [EdgeKind.CALLS] * 2


def test_resolved_uses_replace_calls_by_name():
    sketch = Sketch().file("a", "ship", "load", "rate").edge("a:ship", "a:rate", EdgeKind.REFERENCES)
    sketch.edge("a:ship", "a:load", sure=False).edge("a:load", "a:rate")
    reply = path(sketch.graph(), "ship", "rate")
    assert [places(one.nodes) for one in reply.paths] == [["a:ship", "a:rate"]]


def test_inherited_member_is_found_in_the_base_class():
    sketch = Sketch().file("a", "Depot", "Depot.close", "Hub", "run").file("b", "close", "Far")
    sketch.edge("a:Hub", "a:Depot", EXTENDS).edge("b:Far", "a:Hub", EXTENDS).edge("a:run", "a:Depot.close")
    graph = sketch.graph()
    reply = path(graph, "run", "Far.close")
    assert [places(one.nodes) for one in reply.paths] == [["a:run", "a:Depot.close"]]
    assert reply.notes == ("Far.close is inherited: Depot.close",)
    assert path(graph, "run", "Depot.close").notes == ()


def test_path_may_pass_an_alias():
    sketch = Sketch().file("a", "ship", "Store", "Depot").edge("a:ship", "a:Store")
    reply = path(sketch.edge("a:Store", "a:Depot", EdgeKind.ALIAS).graph(), "ship", "Depot")
    assert [places(one.nodes) for one in reply.paths] == [["a:ship", "a:Store", "a:Depot"]]


def test_failed_path_reports_searches_and_the_reverse_path():
    sketch = Sketch().file("a", "ship", "load", "rate").edge("a:rate", "a:load").edge("a:load", "a:ship")
    reply = path(sketch.graph(), "ship", "rate")
    assert reply.paths == ()
    assert [places(one.nodes) for one in reply.backward] == [["a:rate", "a:load", "a:ship"]]
    assert [(search.forward, search.edges, search.visited) for search in reply.searches] == [
        (True, "calls", 1),
        (True, "uses", 1),
        (False, "calls", 3),
    ]


def test_path_between_files_follows_all_uses():
    sketch = Sketch().file("a", "ship").file("b", "load").file("c", "rate")
    sketch.edge("a", "b:load", IMPORTS, 9).edge("a", "b", IMPORTS, 3).edge("a", "b", IMPORTS, 1, sure=False)
    reply = path(sketch.edge("b", "c", IMPORTS).graph(), "a", "c")
    assert [edge.lines for edge in reply.paths[0].edges] == [(3,), (1,)]
    assert [places(one.nodes) for one in reply.paths] == [["a:", "b:", "c:"]]


# Files


def depends(graph, name, **more):
    request = DependenciesRequest(tenant="t", path=name, **more)
    return dependencies_of(graph, graph_of_files(graph, file_edges(graph)), request, RECEIPT)


def circle():
    sketch = Sketch().file("src/a", "ship").file("src/b", "load").file("lib/c", "rate", "tax").file("lib/d")
    sketch.edge("src/a", "src/b", IMPORTS, 1).edge("src/a", "lib/c:rate", IMPORTS, 2)
    sketch.edge("src/a:ship", "lib/c:rate", line=5).edge("src/a:ship", "lib/c:rate", line=7)
    sketch.edge("lib/c", "lib/d", IMPORTS, 3).edge("lib/d", "src/a", IMPORTS, 4)
    return sketch.edge("src/b:load", "lib/c:tax", sure=False).graph()


def test_dependencies_of_a_file():
    reply = depends(circle(), "src/a", depth=2)
    assert [(one.file_path, one.depth, one.symbols, one.through) for one in reply.uses] == [
        ("lib/c", 1, ("rate",), ""),
        ("src/b", 1, (), ""),
        ("lib/d", 2, (), "lib/c"),
    ]
    assert [(edge.edge, edge.lines, edge.total_lines) for edge in reply.uses[0].edges] == [
        (EdgeKind.CALLS, (5, 7), 2),
        (EdgeKind.IMPORTS, (2,), 1),
    ]
    assert [(one.file_path, one.depth, one.through) for one in reply.used_by] == [
        ("lib/d", 1, ""),
        ("lib/c", 2, "lib/d"),
    ]
    assert reply.cycles == (("src/a", "lib/c", "lib/d", "src/a"),)


def test_dependencies_within_a_folder_are_omitted():
    reply = depends(circle(), "src")
    assert reply.total_files == 2
    assert [one.file_path for one in reply.uses] == ["lib/c"]
    assert [one.file_path for one in reply.used_by] == ["lib/d"]


def test_unrequested_candidate_files_are_only_counted():
    assert depends(circle(), "src/b").unsure_uses == 1
    reply = depends(circle(), "src/b", include_candidates=True)
    assert [(one.file_path, one.edges[0].status) for one in reply.uses] == [("lib/c", EdgeStatus.CANDIDATE)]
    assert reply.unsure_uses == 0


def test_direction_is_optional_and_pages_cover_both():
    reply = depends(circle(), "src/a", direction=DependencyDirection.OUT, limit=1)
    assert (len(reply.uses), reply.total_uses, reply.used_by) == (1, 2, ())
    reply = depends(circle(), "src/a", direction=DependencyDirection.OUT, limit=1, cursor=reply.next_cursor)
    assert [one.file_path for one in reply.uses] == ["src/b"]
    assert reply.next_cursor == ""


@pytest.mark.parametrize(
    ("name", "files"),
    [("src/", 2), ("./src", 2), ("a", 1), ("src.a", 1), ("src/a", 1), ("", 4), (".", 4), ("lib/c", 1)],
)
def test_files_are_found_by_path_folder_and_package(name, files):
    assert depends(circle(), name).total_files == files


def test_missing_path_is_reported():
    assert code(lambda: depends(circle(), "src/nothing"))[0] is ErrorCode.FILE_NOT_FOUND


# Changes


DEPOT = [f"line {number}" for number in range(1, 41)]


def changed(text, lines=tuple(DEPOT)):
    sketch = (
        Sketch().file("depot", "ship", "load", "_wait").file("user", "take").edge("user:take", "depot:ship")
    )
    graph = sketch.edge("user", "depot:load", IMPORTS).graph()
    read = [read_change(graph, diff, lines) for diff in read_diff(text)]
    request = ImpactRequest(tenant="t", diff=text)
    changes = ChangeSet([file for file, _ in read], [one for _, found in read for one in found])
    return impact_of(graph, no_ranks(graph), changes, request, RECEIPT)


def hunk(before, after, *, source="depot", target="depot", start=2):
    head = f"--- {'a/' + source if source else '/dev/null'}\n+++ {'b/' + target if target else '/dev/null'}\n"
    lines = [*(f"-{line}\n" for line in before), *(f"+{line}\n" for line in after)]
    place = f"@@ -{start if before else start - 1},{len(before)} +{start if after else start - 1},{len(after)} @@\n"
    return head + place + "".join(lines)


def test_diff_affects_symbols_and_their_users():
    reply = changed(hunk(["line 2"], ["new"]))
    assert [(file.state, file.applied) for file in reply.files] == [(DiffState.MODIFIED, False)]
    assert [(one.node.symbol, one.exported, one.signature, one.used_by) for one in reply.changed] == [
        ("ship", True, False, 1)
    ]
    assert places(one.node for one in reply.affected) == ["user:take"]
    assert (reply.affected[0].uses.symbol, reply.affected[0].distance) == ("ship", 1)
    assert reply.by_file == {"user": 1}


def test_applied_diff_is_matched_by_its_new_side():
    reply = changed(hunk(["old"], ["line 2"]))
    assert [(file.state, file.applied) for file in reply.files] == [(DiffState.MODIFIED, True)]
    assert [one.node.symbol for one in reply.changed] == ["ship"]


@pytest.mark.parametrize(
    ("text", "state", "symbols"),
    [
        (hunk(["other"], ["new"]), DiffState.DOES_NOT_APPLY, []),
        (hunk(["line 2"], ["new"], start=99), DiffState.DOES_NOT_APPLY, []),
        (hunk(["a"], ["b"], source="gone", target="gone"), DiffState.NOT_INDEXED, []),
        (hunk([], ["a"], source="", target="new", start=1), DiffState.ADDED, []),
        (hunk(["line 1"], [], target="", start=1), DiffState.REMOVED, ["ship", "load", "_wait", ""]),
        (hunk(["line 2"], ["new"], target="dock"), DiffState.RENAMED, ["ship", "load"]),
        ("Binary files a/depot and b/depot differ\n", DiffState.BINARY, []),
    ],
)
def test_each_file_of_a_diff_has_a_state(text, state, symbols):
    reply = changed(text)
    assert [file.state for file in reply.files] == [state]
    assert [one.node.symbol for one in reply.changed] == symbols
    assert bool(reply.files[0].detail) is (state is DiffState.DOES_NOT_APPLY)


def test_renaming_a_file_affects_its_importers():
    reply = changed("diff --git a/depot b/dock\nsimilarity index 100%\nrename from depot\nrename to dock\n")
    assert [file.state for file in reply.files] == [DiffState.RENAMED]
    assert places(one.node for one in reply.affected) == ["user:"]


def test_symbol_changes_with_its_members():
    sketch = Sketch().file("a", "Depot", "Depot.ship", "load").file("t", "check", flags="t")
    graph = sketch.edge("a:load", "a:Depot.ship").edge("t:check", "a:load").graph()
    request = ImpactRequest(tenant="t", symbol="Depot")
    reply = impact_of_symbol(
        graph, no_ranks(graph), one_symbol(graph, "acme/parcels", "Depot", ""), request, RECEIPT
    )
    assert places(one.node for one in reply.affected) == ["a:load"]
    assert [(one.node.symbol, one.distance) for one in reply.tests] == [("check", 2)]
    assert (reply.total_affected, reply.resolved_affected, reply.total_tests) == (1, 1, 1)


# Functions stored in fields, and macros


def stored_in_fields():
    return graph_of(
        {
            "net.h": "struct ops { int (*read)(int); };\n#define READ(o) sock_read(o)\n",
            "net.c": '#include "net.h"\nint sock_read(int a) { return 0; }\nstruct ops SOCK = { .read = sock_read };\n',
            "use.c": '#include "net.h"\nint run(struct ops *o) {\n    return o->read(1);\n}\nint scan(int o) {\n    return READ(o);\n}\n',
        }
    )


def test_callers_show_where_a_function_is_stored_and_calls_of_the_field():
    reply = call_hierarchy(stored_in_fields(), CallHierarchyRequest(tenant="t", symbol="sock_read"), RECEIPT)
    assert [(place.node.file_path, place.line, place.field) for place in reply.stored] == [
        ("net.c", 3, "read")
    ]
    by_field = [branch for branch in reply.branches if branch.via.strategy is Strategy.STORED]
    assert places(branch.node for branch in by_field) == ["use.c:run"]


def test_macro_that_calls_a_function_leads_to_where_it_is_expanded():
    reply = call_hierarchy(
        stored_in_fields(), CallHierarchyRequest(tenant="t", symbol="sock_read", depth=1), RECEIPT
    )
    depths = {f"{branch.node.symbol}": branch.depth for branch in reply.branches}
    assert depths == {"READ": 1, "run": 1, "scan": 2}


def test_a_resolved_path_of_any_length_replaces_a_guess():
    names = [f"f{number}" for number in range(16)]
    sketch = Sketch().file("a.py", *names)
    for one, other in itertools.pairwise(names):
        sketch.edge(f"a.py:{one}", f"a.py:{other}")
    sketch.edge("a.py:f0", "a.py:f15", sure=False)
    reply = path(sketch.graph(), "f0", "f15")
    assert [len(one.edges) for one in reply.paths] == [15]
    assert {edge.status for one in reply.paths for edge in one.edges} == {EdgeStatus.RESOLVED}


def test_a_local_function_comes_with_the_function_around_it():
    text = (
        "class Depot:\n    def weigh(self):\n        def add(n):\n            def one():\n"
        "                return open(n)\n            return one()\n        return add(1)\n\n\n"
        "def open(n):\n    return n\n"
    )
    graph = graph_of({"depot.py": text})
    asked = CallHierarchyRequest(tenant="t", symbol="open")
    node = call_hierarchy(graph, asked, RECEIPT).branches[0].node
    assert (node.symbol, node.start_line, node.end_line) == ("Depot.weigh.add.one", 4, 5)
    assert (node.outer.name, node.outer.start_line, node.outer.end_line) == ("Depot.weigh", 2, 7)


def test_a_name_that_files_import_means_what_they_import():
    weigh = "module.exports = (one) => {\n  return one\n}\n"
    graph = graph_of(
        {
            "lib/weigh.js": weigh,
            "lib/tare.js": weigh,
            "use.js": "const check = require('./lib/weigh')\nfunction run () {\n  return check(1)\n}\n",
            "other.js": "const both = require('./lib/weigh')\n",
            "last.js": "const both = require('./lib/tare')\n",
        }
    )
    reply = call_hierarchy(graph, CallHierarchyRequest(tenant="t", symbol="check"), RECEIPT)
    assert places(reply.roots) == ["lib/weigh.js:weigh"]
    assert places(branch.node for branch in reply.branches) == ["use.js:run"]
    assert reply.notes == ("check is imported: weigh of lib/weigh.js",)
    asked = CallHierarchyRequest(tenant="t", symbol="both")
    assert code(lambda: call_hierarchy(graph, asked, RECEIPT))[0] is ErrorCode.SYMBOL_AMBIGUOUS
    reply = call_hierarchy(graph, asked.model_copy(update={"path": "last.js"}), RECEIPT)
    assert places(reply.roots) == ["lib/tare.js:tare"]


def test_classes_without_a_name_are_subtypes_of_what_they_extend_alone():
    graph = graph_of(
        {
            "a.js": (
                "class Base { open () {} }\nclass Town {\n  make () {\n    return class extends Base { open () {} }\n"
                "  }\n  go () {\n    this.open()\n  }\n}\n"
            ),
            "p/Gate.java": "package p;\npublic abstract class Gate { abstract void open(); }\n",
            "p/Town.java": (
                "package p;\nclass Town {\n  Gate gate = new Gate() { void open() {} };\n  Gate make() {\n"
                "    return new Gate() { void open() {} };\n  }\n  void run() { open(); }\n}\n"
            ),
        }
    )

    def asked(symbol):
        return TypeHierarchyRequest(tenant="t", symbol=symbol, include_members=True)

    subtypes = {
        symbol: [(one.node.symbol, [member.symbol for member in one.overrides]) for one in reply.subtypes]
        for symbol in ("Base", "Gate")
        for reply in [type_hierarchy(graph, asked(symbol), RECEIPT)]
    }
    assert subtypes == {
        "Base": [("Town.make", ["Town.make.open"])],
        "Gate": [("Town.gate", ["Town.gate.open"]), ("Town.make", ["Town.make.open"])],
    }
    sure = CallHierarchyRequest(tenant="t", symbol="Base.open", include_candidates=False)
    assert call_hierarchy(graph, sure, RECEIPT).total == 0


def test_an_uncertain_step_lists_what_else_its_name_may_mean():
    sketch = Sketch().file(
        "a", "run", "Depot", "Depot.open", "Gate", "Gate.open", "Town", "Town.open", "rate"
    )
    sketch.edge("a:run", "a:Depot.open", line=3, sure=False, strategy=Strategy.NAME)
    sketch.edge("a:run", "a:Town.open", line=3, sure=False, strategy=Strategy.NAME)
    sketch.edge("a:Depot.open", "a:rate").edge("a:run", "a:Gate.open", line=5)
    (found,) = path(sketch.graph(), "run", "rate").paths
    assert places(found.nodes) == ["a:run", "a:Depot.open", "a:rate"]
    assert [(one.edge, one.node.symbol, one.resolved) for one in found.others] == [
        (0, "Gate.open", True),
        (0, "Town.open", False),
    ]
    sure = sketch.edge("a:Gate.open", "a:Gate").edge("a:Gate", "a:rate", EdgeKind.REFERENCES)
    (found,) = path(sure.graph(), "run", "rate").paths
    assert places(found.nodes) == ["a:run", "a:Gate.open", "a:Gate", "a:rate"]
    assert found.others == ()


def test_constructor_is_used_by_what_makes_the_object():
    graph = Sketch().file("f", "Depot", "Depot.__init__", "make", "run").edge("f:make", "f:Depot").graph()
    request = ImpactRequest(tenant="t", symbol="Depot.__init__")
    reply = impact_of_symbol(
        graph, no_ranks(graph), one_symbol(graph, "r", "Depot.__init__", ""), request, RECEIPT
    )
    assert [(one.node.symbol, one.used_by) for one in reply.changed] == [("Depot.__init__", 1)]


OUTSIDE = {
    "depot.py": """\
import abc
from collections.abc import Iterator as Walk

class Depot(abc.ABC): ...
class Parcels(Walk[int]): ...
class Heavy(Parcels): ...
""",
    "tests/test_depot.py": "from typing import Iterator\n\nclass Fake(Iterator): ...\n",
    "Gate.java": "import java.io.Closeable;\nclass Gate implements Closeable {}\nclass Door extends java.lang.Exception {}\n",
    "gate.rs": "use std::fmt;\nstruct Gate;\nimpl fmt::Display for Gate {}\n",
    "gate.go": """\
package gate

import "net/http"

type Gate struct{}

func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

type Wide struct{ http.Handler }
""",
}


@pytest.mark.parametrize(
    ("name", "subtypes", "modules"),
    [
        ("Iterator", ["Parcels 5 1", "Fake 3 1", "Heavy 6 2"], {"collections.abc": 1, "typing": 1}),
        ("collections.abc.Iterator", ["Parcels 5 1", "Heavy 6 2"], {"collections.abc": 1}),
        ("typing.Iterator", ["Fake 3 1"], {"typing": 1}),
        ("abc.ABC", ["Depot 4 1"], {"abc": 1}),
        ("Closeable", ["Gate 2 1"], {"java.io": 1}),
        ("java.lang.Exception", ["Door 3 1"], {"java.lang": 1}),
        ("fmt::Display", ["Gate 3 1"], {"std::fmt": 1}),
    ],
)
def test_subtypes_of_a_type_that_the_repository_does_not_define(name, subtypes, modules):
    graph = graph_of(OUTSIDE, {path: "t" if path.startswith("tests/") else "" for path in OUTSIDE})
    reply = type_hierarchy(graph, TypeHierarchyRequest(tenant="t", symbol=name), RECEIPT)
    shown = [f"{one.node.symbol} {one.via.lines[0]} {one.depth}" for one in reply.subtypes]
    assert shown == subtypes
    assert reply.outside
    assert {one.module: one.types for one in reply.outside.modules} == modules
    assert [reply.subtypes[one.parent].node.symbol for one in reply.subtypes if one.parent >= 0] == [
        "Parcels" for one in subtypes if one == "Heavy 6 2"
    ]


def test_tests_and_names_without_any_subtype_are_left_out_of_types_outside():
    graph = graph_of(OUTSIDE, {path: "t" if path.startswith("tests/") else "" for path in OUTSIDE})
    asked = TypeHierarchyRequest(tenant="t", symbol="typing.Iterator", source_only=True)
    reply = type_hierarchy(graph, asked, RECEIPT)
    assert (reply.subtypes, reply.total_subtypes, reply.tests_left_out) == ((), 0, 1)
    for unknown in ("Sized", "other.Closeable"):
        with pytest.raises(PrismError) as caught:
            type_hierarchy(graph, TypeHierarchyRequest(tenant="t", symbol=unknown), RECEIPT)
        assert caught.value.code is ErrorCode.SYMBOL_NOT_FOUND


def test_limit_bounds_the_direct_types_and_not_all_below_them():
    """Twenty subclasses of each of five direct ones are listed, and what the bound of the tree cuts is counted."""
    text = "import abc\n" + "".join(
        f"class Direct{one}(abc.ABC): ...\n"
        + "".join(f"class Below{one}x{n}(Direct{one}): ...\n" for n in range(20))
        for one in range(5)
    )
    asked = TypeHierarchyRequest(tenant="t", symbol="ABC", limit=5)
    reply = type_hierarchy(graph_of({"depot.py": text}), asked, RECEIPT)
    assert [sum(one.depth == depth for one in reply.subtypes) for depth in (1, 2)] == [5, 100]
    assert reply.below_left_out == 0
    many = "import abc\nclass Direct(abc.ABC): ...\n" + "".join(
        f"class Below{n}(Direct): ...\n" for n in range(BRANCHES_MAX + 1)
    )
    reply = type_hierarchy(graph_of({"depot.py": many}), asked, RECEIPT)
    assert (len(reply.subtypes), reply.below_left_out) == (BRANCHES_MAX + 1, 1)


def test_path_filter_selects_the_subtypes_of_a_type_outside():
    files = {
        "src/a.py": "import abc\nclass Depot(abc.ABC): ...\n",
        "lib/b.py": "import abc\nfrom src.a import Depot\nclass Hub(abc.ABC): ...\nclass Yard(Depot): ...\n",
        "src/c.py": "from lib.b import Yard\nclass Gate(Yard): ...\n",
    }
    reply = type_hierarchy(
        graph_of(files), TypeHierarchyRequest(tenant="t", symbol="ABC", path_filter="src/**"), RECEIPT
    )
    # Yard leads to Gate, which passes.
    assert [one.node.symbol for one in reply.subtypes] == ["Depot", "Yard", "Gate"]
    assert [one.parent for one in reply.subtypes] == [-1, 0, 1]
    assert (reply.total_subtypes, reply.filtered_out) == (1, 1)
    go = TypeHierarchyRequest(tenant="t", symbol="http.Handler", path_filter="src/**")
    assert type_hierarchy(graph_of(OUTSIDE), go, RECEIPT).structural == ()


def test_interfaces_of_the_standard_library_of_go_have_the_types_with_their_methods():
    reply = type_hierarchy(
        graph_of(OUTSIDE), TypeHierarchyRequest(tenant="t", symbol="http.Handler"), RECEIPT
    )
    assert {one.symbol for one in reply.structural} == {"Gate", "Wide"}
    assert [one.node.symbol for one in reply.subtypes] == ["Wide"]
    reply = type_hierarchy(graph_of(OUTSIDE), TypeHierarchyRequest(tenant="t", symbol="io.Reader"), RECEIPT)
    assert reply.outside
    assert (reply.structural, reply.subtypes) == ((), ())
