"""Traversals of the graph as text: what each line shows, and what fits."""

from datetime import UTC, datetime

import pytest

from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, SymbolKind
from prism_contracts.rpc.common import EnclosingSymbol, GraphReceipt
from prism_contracts.rpc.graph import (
    WALK_LIMIT_MAX,
    AffectedNode,
    CallDirection,
    CallHierarchyReply,
    ChangedSymbol,
    ComparedLevels,
    DependenciesReply,
    DiffFile,
    DiffState,
    ExternalModule,
    FileDependency,
    FindPathReply,
    GraphEdge,
    GraphNode,
    GraphPath,
    ImpactReply,
    MacroSubtype,
    MacroSubtypes,
    OtherMeaning,
    OutsideModule,
    OutsideType,
    PathSearch,
    RunCommand,
    SourceLine,
    StopReason,
    StoredPlace,
    TreeBranch,
    TypeHierarchyReply,
    WalkStop,
)
from prism_contracts.rpc.symbols import Reconciliation, TextLine
from prism_gateway.mcp.answers import calls as call_text
from prism_gateway.mcp.answers import impacts, level_parts, walks
from prism_gateway.mcp.answers import paths as path_text
from prism_gateway.mcp.answers import types as type_text
from prism_gateway.mcp.answers.graph_parts import joined, unresolved_lines
from prism_gateway.mcp.tool import Answer

RECEIPT = GraphReceipt(
    repo="acme/parcels",
    indexed_commit="a" * 40,
    head_commit="a" * 40,
    lag_seconds=0,
    indexed_at=datetime(2026, 1, 2, tzinfo=UTC),
    corpus_version=1,
    files_indexed=2,
    files_skipped=0,
    files_failed=0,
    graph_commit="b" * 40,
    graph_version=1,
    graph_built_at=datetime(2026, 1, 2, tzinfo=UTC),
    graph_lag_seconds=12,
)
SHIP = GraphNode(file_path="depot.py", line=12, symbol="Depot.ship")
LOAD = GraphNode(file_path="van.py", line=30, symbol="load")
TOP = GraphNode(file_path="main.py", line=1)


def edge(*lines: int, sure: bool = True, kind: EdgeKind = EdgeKind.CALLS, total: int = 0) -> GraphEdge:
    status = EdgeStatus.RESOLVED if sure else EdgeStatus.CANDIDATE
    strategy = Strategy.IMPORT if sure else Strategy.NAME
    return GraphEdge(
        edge=kind, status=status, strategy=strategy, lines=lines, total_lines=total or len(lines)
    )


def calls(*branches: TreeBranch, **more: object) -> CallHierarchyReply:
    fields: dict[str, object] = {
        "roots": (SHIP,),
        "direction": CallDirection.CALLERS,
        "branches": branches,
        "total": len(branches),
        "receipt": RECEIPT,
    }
    return CallHierarchyReply(**(fields | more))  # type: ignore[arg-type]


TREE = (
    TreeBranch(node=LOAD, via=edge(33, 41, total=7), depth=1, left_out=2),
    TreeBranch(node=TOP, via=edge(5, sure=False), depth=1),
    TreeBranch(node=SHIP, via=edge(13), parent=0, depth=2, recursive=True),
)


LINES = (
    SourceLine(file_path="van.py", line=33, text="depot.ship(1)"),
    SourceLine(file_path="van.py", line=41, text="depot.ship(2)"),
    SourceLine(file_path="main.py", line=5, text="it.ship()"),
)


def test_callers_are_grouped_by_file_with_each_call() -> None:
    reply = calls(*TREE, total=2, candidates=1, source_lines=LINES, next_cursor="c")
    answer = call_text.call_hierarchy(reply, 4_000)
    assert answer.text.split("\n")[:-3] == [
        "callers of depot.py:12 Depot.ship",
        "van.py",
        "  load",
        "    33: depot.ship(1)",
        "    41: depot.ship(2)",
        "    … 5 more",
        "  depot.py",
        "    Depot.ship (recursive) [calls at 13]",
        "    … and 2 more: ask about load",
        "by name only (?):",
        "main.py",
        "? top level 5: it.ship()",
    ]
    assert "graph of bbbbbbbbbb" in answer.text
    assert answer.text.endswith("next_cursor: c")
    assert "truncated" not in answer.structured


def test_functions_stored_in_fields_and_macros_are_marked() -> None:
    macro = LOAD.model_copy(update={"symbol": "LOAD", "kind": SymbolKind.MACRO})
    through = edge(33, sure=False).model_copy(update={"strategy": Strategy.STORED})
    branches = (TreeBranch(node=macro, via=edge(3), depth=1), TreeBranch(node=LOAD, via=through, depth=1))
    stored = (StoredPlace(node=LOAD, line=7, field="ship"), StoredPlace(node=LOAD, line=8, field="ops#1"))
    reply = calls(*branches, total=2, candidates=1, stored=stored)
    text = call_text.call_hierarchy(reply, 4_000).text
    assert "\n  LOAD (macro) [calls at 3]\n" in text
    assert "\nthrough a field in which it is stored (?):\nvan.py\n? load [calls at 33]\n" in text
    assert "\nstored in a field:\n  van.py:7 in .ship, load\n  van.py:8 in field 2 of ops, load\n" in text
    assert "Not complete: 1 of the 2 callers are through a field that may hold another function (?);" in text


def test_tests_follow_source_callers() -> None:
    test = LOAD.model_copy(update={"file_path": "tests/van.py", "test": True})
    branches = (TreeBranch(node=test, via=edge(3), depth=1), TreeBranch(node=LOAD, via=edge(33), depth=1))
    lines = call_text.call_hierarchy(calls(*branches), 4_000).text.split("\n")
    assert lines[1:6] == [
        "van.py", "  load [calls at 33]", "in tests:", "tests/van.py", "  load [calls at 3]",
    ]  # fmt: skip


def test_cut_branches_are_counted_at_their_parent() -> None:
    answer = call_text.call_hierarchy(calls(*TREE, total=2), 100)
    assert [branch.get("left_out", 0) for branch in answer.structured["branches"]] == [3, 0]
    assert answer.structured["truncated"]


def test_a_node_shows_the_range_of_its_symbol() -> None:
    ranged = LOAD.model_copy(update={"start_line": 28, "end_line": 44})
    branch = TreeBranch(node=ranged, via=edge(33), depth=1)
    text = call_text.call_hierarchy(calls(branches=(branch,), source_lines=LINES), 4_000).text
    assert "van.py\n  load (28-44) 33: depot.ship(1)" in text


def test_branches_fit_into_the_budget_from_the_top() -> None:
    reply = calls(*[TreeBranch(node=LOAD, via=edge(33), depth=1)] * 100, source_lines=LINES)
    few, many = (call_text.fit_calls(reply, tokens) for tokens in (200, 2_000))
    assert 1 <= few < many < 100


def reconciliation(**counts: int) -> Reconciliation:
    none = dict.fromkeys(("resolved", "candidates", "elsewhere", "text_lines", "unexplained", "files"), 0)
    return Reconciliation(**(none | counts))


BRANCH = TreeBranch(node=LOAD, via=edge(33), depth=1)
IN_TEST = TextLine(
    repo="acme/parcels", file_path="tests/van.py", line=7, text="assert ship", test=True,
    enclosing=EnclosingSymbol(name="check", start_line=5, end_line=9),
)  # fmt: skip
IN_SOURCE = IN_TEST.model_copy(update={"file_path": "van.py", "test": False})


@pytest.mark.parametrize(
    ("branches", "fields", "expected"),
    [
        ((), {"in_text": reconciliation()}, "Complete: no direct caller; no line of code contains ship."),
        (
            (BRANCH,),
            {"in_text": reconciliation(text_lines=3, files=2, mentions=1)},
            "Complete: 1 direct caller; 3 lines of code in 2 files contain ship (1 in comments or strings).",
        ),
        (
            (BRANCH,),
            {"in_text": reconciliation(text_lines=3, unexplained=2)},
            "Not complete: 2 lines of code",
        ),
        ((BRANCH,), {"in_text": reconciliation(candidates=1)}, "Not complete: 1 use other than calls"),
        ((), {"in_text": reconciliation(files_left_out=1)}, "Not complete: 1 file that may contain the name"),
        ((), {}, "Not complete: it was not compared with the text. No direct caller."),
        ((BRANCH,), {"total": 9, "in_text": reconciliation()}, "Not complete: 8 of the 9 callers are on"),
        ((BRANCH,), {"candidates": 1, "in_text": reconciliation()}, "Not complete: 1 of the 1 callers match"),
    ],
)
def test_callers_are_complete_only_if_the_text_agrees(branches, fields, expected) -> None:
    answer = call_text.call_hierarchy(calls(*branches, other_uses={EdgeKind.IMPORTS: 3}, **fields), 4_000)
    assert answer.text.split("\n")[-2].startswith(expected)
    assert "Other uses: imports 3" in answer.text


def test_unresolved_lines_are_listed_with_tests_apart() -> None:
    found = reconciliation(unexplained=9)
    found = found.model_copy(update={"unexplained_lines": (IN_SOURCE, IN_TEST)})
    assert list(unresolved_lines(found)) == [
        "code that contains the name and was not resolved (9, the first 2):",
        "van.py",
        "  check (5-9) 7: assert ship",
        "in tests:",
        "tests/van.py",
        "  check (5-9) 7: assert ship",
    ]


def test_a_stop_makes_callees_incomplete() -> None:
    stop = WalkStop(reason=StopReason.DEPTH, count=4, nodes=(LOAD,))
    text = call_text.call_hierarchy(calls(BRANCH, direction=CallDirection.CALLEES, stops=(stop,)), 4_000).text
    assert "\nComplete to this depth: " in text
    assert " 4 symbols at the last level go on (load …): raise depth." in text


HUB = GraphNode(file_path="hub.py", line=9, symbol="Hub.ship")
PATH = GraphPath(nodes=(LOAD, SHIP, HUB), edges=(edge(33), edge(3, kind=EdgeKind.OVERRIDES)))
SEARCH = PathSearch(forward=True, edges="calls", candidates=True, visited=7, found=0)
FOUND = FindPathReply(
    source=(LOAD,), target=(SHIP,), paths=(PATH,), searches=(SEARCH,), source_lines=LINES, receipt=RECEIPT
)  # fmt: skip


def test_a_step_over_a_declaration_says_how_many_implement_it() -> None:
    reply = FOUND.model_copy(update={"paths": (PATH.model_copy(update={"choices": (0, 3)}),)})
    text = path_text.find_path(reply, 4_000).text
    assert "  → hub.py:9 Hub.ship (overrides depot.py:12 Depot.ship; one of 3 implementations)\n" in text


def test_a_path_shows_the_line_of_each_call() -> None:
    assert path_text.find_path(FOUND, 4_000).text.split("\n")[1:-1] == [
        "path 1, 1 step:",
        "  van.py:30 load",
        "      33: depot.ship(1)",
        "  → hub.py:9 Hub.ship (overrides depot.py:12 Depot.ship)",
        "Complete: 1 path, the most certain and shortest first.",
    ]


def test_a_further_path_begins_where_it_leaves_the_first() -> None:
    path = GraphPath(nodes=(LOAD, SHIP, HUB), edges=(edge(33), edge(3)))
    other = GraphPath(
        nodes=(LOAD, SHIP, LOAD.model_copy(update={"symbol": "park", "line": 9})), edges=(edge(33), edge(4))
    )
    lines = path_text.find_path(FOUND.model_copy(update={"paths": (path, other)}), 4_000).text.split("\n")
    at = lines.index("path 2, 2 steps:")
    assert lines[at + 1] == "  as path 1 to depot.py:12 Depot.ship"
    assert lines[at + 3].startswith("  → van.py")
    assert "van.py:33" not in "\n".join(lines[at:])


@pytest.mark.parametrize(
    ("symbol", "strategy", "note", "is_complete"),
    [
        ("Depot.ship_all", Strategy.ONLY_DEFINITION, "by name, its only definition", True),
        ("Depot.shipAll", Strategy.ONLY_DEFINITION, "by name, its only definition", True),
        ("Depot.ship_all", Strategy.NAME, "by name only ?", False),
        ("Depot.read", Strategy.ONLY_DEFINITION, "by name only ?", False),  # any object may have that
        ("Depot.__enter__", Strategy.ONLY_DEFINITION, "by name only ?", False),
        ("Depot.toString", Strategy.ONLY_DEFINITION, "by name only ?", False),
    ],
)
def test_only_definition_of_a_compound_name_is_certain_enough(symbol, strategy, note, is_complete) -> None:
    only = edge(33, sure=False).model_copy(update={"strategy": strategy})
    path = GraphPath(nodes=(LOAD, SHIP.model_copy(update={"symbol": symbol})), edges=(only,))
    text = path_text.find_path(FOUND.model_copy(update={"paths": (path,)}), 4_000).text
    assert f"{symbol} ({note})" in text
    assert ("\nComplete: 1 path" in text) is is_complete
    assert ("\nNot complete: 1 of the 1 step of path 1 matches by name only (?)." in text) is not is_complete


def test_an_uncertain_step_shows_what_else_its_name_may_mean() -> None:
    others = (
        OtherMeaning(edge=0, node=HUB, resolved=True),
        OtherMeaning(edge=0, node=HUB.model_copy(update={"symbol": "Gate.ship", "line": 20})),
    )
    path = GraphPath(nodes=(LOAD, SHIP), edges=(edge(33, sure=False),), others=others)
    lines = path_text.find_path(FOUND.model_copy(update={"paths": (path,)}), 4_000).text.split("\n")
    at = lines.index("  → depot.py:12 Depot.ship (by name only ?)")
    assert lines[at + 1 : at + 3] == [
        "      or hub.py:9 Hub.ship, which resolved uses lead to",
        "      or hub.py:20 Gate.ship",
    ]


def test_an_unsure_override_keeps_a_path_unsure() -> None:
    only = edge(33, sure=False).model_copy(update={"strategy": Strategy.ONLY_DEFINITION})
    override = edge(9, sure=False, kind=EdgeKind.OVERRIDES)
    declared = SHIP.model_copy(update={"symbol": "Depot.ship_all"})
    path = GraphPath(nodes=(LOAD, declared, HUB), edges=(only, override))
    text = path_text.find_path(FOUND.model_copy(update={"paths": (path,)}), 4_000).text
    assert "(overrides depot.py:12 Depot.ship_all; by name only ?)" in text
    assert "\nNot complete: 1 of the 1 step" in text


def test_a_path_from_a_declaration_names_it() -> None:
    path = GraphPath(nodes=(SHIP, HUB), edges=(edge(3, kind=EdgeKind.OVERRIDES),))
    lines = path_text.find_path(FOUND.model_copy(update={"paths": (path,)}), 4_000).text.split("\n")
    assert lines[2:4] == [
        "  depot.py:12 Depot.ship",
        "  → hub.py:9 Hub.ship (overrides depot.py:12 Depot.ship)",
    ]


STORED = WalkStop(reason=StopReason.VALUE, count=1, nodes=(LOAD,), lines=LINES[:1])
OUTSIDE = WalkStop(
    reason=StopReason.OUTSIDE,
    count=9,
    nodes=(LOAD,),
    lines=(LINES[0].model_copy(update={"text": "json.loads"}),),
)


def test_a_missed_path_shows_both_of_its_ends() -> None:
    update = {"paths": (), "backward": (PATH,), "stops": (STORED, OUTSIDE), "reaching": (TOP,)}
    assert path_text.find_path(FOUND.model_copy(update=update), 4_000).text.split("\n")[1:-1] == [
        "no path over calls",
        "From the source, calls stop here:",
        "calls of stored values or on unknown receivers (1):",
        "van.py",
        "  load 33: depot.ship(1)",
        "outside the repository (9): json.loads …",
        "The target is reached from:",
        "  main.py:1 (top level)",
        "but in the opposite direction:",
        "  van.py:30 load",
        "      33: depot.ship(1)",
        "  → hub.py:9 Hub.ship (overrides depot.py:12 Depot.ship)",
        "Not complete: 1 call of stored values or on unknown receivers (listed above). No path was found.",
    ]


def test_calls_outside_the_repository_do_not_make_callees_incomplete() -> None:
    reply = calls(BRANCH, direction=CallDirection.CALLEES, stops=(OUTSIDE,))
    assert "\nComplete: 1 direct callee in the repository." in call_text.call_hierarchy(reply, 4_000).text
    reply = reply.model_copy(update={"stops": (OUTSIDE, STORED)})
    assert "\nNot complete: 1 call of stored values" in call_text.call_hierarchy(reply, 4_000).text


CODE = {
    "a.py": """\
@traced
def ship(
    self,
):
    \"\"\"Ship it.

    At once.
    \"\"\"
    one()
    two()

    three()
    self.load()
    four()
    five()
    six()""",
    "b.java": """\
/** Loads it.
 * Now.
 */
@Override
void load() {
  // by hand
  one();
}""",
}
ON_THE_WAY = GraphNode(file_path="a.py", line=11, start_line=10, end_line=25, symbol="ship")
TARGET = GraphNode(file_path="b.java", line=5, start_line=1, end_line=8, symbol="load")


def code_on_path(declared: tuple[GraphNode, ...] = ()) -> list[str]:
    overrides = [edge(1, kind=EdgeKind.OVERRIDES) for _ in declared]
    path = GraphPath(nodes=(ON_THE_WAY, *declared, TARGET), edges=(edge(22), *overrides))
    reply = FOUND.model_copy(update={"paths": (path,)})
    places = path_text.body_ranges(reply)
    bodies = {place: CODE[place.file_path] for place in places}
    lines = path_text.find_path(reply, 4_000, bodies).text.split("\n")
    return lines[lines.index("code on path 1, without docstrings:") + 1 : -2]


def test_code_on_a_path_is_the_call_with_its_frame_and_the_target() -> None:
    assert code_on_path() == [
        "a.py:10-25 ship",
        "  …",
        "  11: def ship(",
        "  …",
        "  19:     two()",
        "  21:     three()",
        "  22:     self.load()",
        "  23:     four()",
        "  24:     five()",
        "  … to 25",
        "b.java:1-8 load",
        "  …",
        "  4: @Override",
        "  5: void load() {",
        "  6:   // by hand",
        "  7:   one();",
        "  8: }",
    ]


def test_code_of_a_declaration_on_a_path_is_not_shown() -> None:
    declared = GraphNode(file_path="c.py", line=1, start_line=1, end_line=2, symbol="Base.load")
    assert code_on_path((declared,)) == code_on_path()


TYPES = TypeHierarchyReply(
    roots=(SHIP,),
    supertypes=(),
    subtypes=(TreeBranch(node=LOAD, via=edge(33, kind=EdgeKind.EXTENDS), depth=1, overrides=(SHIP,)),),
    total_supertypes=0,
    total_subtypes=1,
    source_lines=LINES,
    in_text=reconciliation(text_lines=2, files=2),
    receipt=RECEIPT,
)


def test_subtypes_show_their_header_and_overriding_members() -> None:
    assert type_text.type_hierarchy(TYPES, 4_000).text.split("\n")[1:-1] == [
        "subtypes (1 direct):",
        "van.py",
        "  load 33: depot.ship(1)",
        "    overriding: Depot.ship",
        "Complete: no supertype, 1 subtype; 2 lines of code in 2 files contain ship.",
    ]


def test_subtypes_by_macros_are_listed_with_the_lines_of_their_calls() -> None:
    macro = GraphNode(
        file_path="all.rs", line=11, start_line=11, end_line=28, symbol="color", kind=SymbolKind.MACRO
    )
    calls = tuple(
        MacroSubtype(name=name, file_path="all.rs", start_line=line, end_line=line + 3)
        for name, line in (("Red", 30), ("Blue", 35))
    )
    text = "impl Ship for $name {"
    header = IN_SOURCE.model_copy(update={"file_path": "all.rs", "line": 14, "text": text})
    in_text = reconciliation(text_lines=2, files=2, unexplained=1).model_copy(
        update={"unexplained_lines": (header,)}
    )
    by_macro = MacroSubtypes(macro=macro, line=14, text=text, calls=calls, total=3)
    reply = TYPES.model_copy(update={"by_macros": (by_macro,), "in_text": in_text})
    answer = type_text.type_hierarchy(reply, 4_000)
    assert (
        "\nby calls of macro all.rs:11-28 color (3, the first 2), which has 14: impl Ship for $name {\n"
        "  all.rs: Red (30-33), Blue (35-38)\n"
        "Complete: no supertype, 1 subtype, 3 by macros; "
    ) in answer.text
    assert answer.structured["by_macros"][0]["total"] == 3
    unlisted = type_text.type_hierarchy(reply.model_copy(update={"by_macros": ()}), 4_000).text
    assert "Not complete: 1 line may declare a subtype (listed above)." in unlisted


def test_declaration_of_a_subtype_is_its_place() -> None:
    declared = LOAD.model_copy(update={"start_line": 30, "end_line": 40})
    (branch,) = TYPES.subtypes
    update = {"subtypes": (branch.model_copy(update={"node": declared, "overrides": ()}),)}
    assert (
        "  load (30-40) [extends at 33]"
        in type_text.type_hierarchy(TYPES.model_copy(update=update), 4_000).text
    )


def subtype(symbol: str, file: str, parent: int = -1, **more: object) -> TreeBranch:
    node = GraphNode(file_path=file, line=3, symbol=symbol, test=file.startswith("tests"))
    fields = {
        "node": node,
        "via": edge(3, kind=EdgeKind.EXTENDS),
        "parent": parent,
        "depth": 1 + (parent >= 0),
    }
    return TreeBranch(**(fields | more))  # type: ignore[arg-type]


def with_subtypes(*branches: TreeBranch) -> TypeHierarchyReply:
    direct = sum(branch.parent < 0 for branch in branches)
    return TYPES.model_copy(update={"subtypes": branches, "total_subtypes": direct, "source_lines": ()})


def test_each_subtype_is_listed_once_by_file() -> None:
    reply = with_subtypes(
        subtype("Hub", "hub.py"),
        subtype("TestHub", "tests/hub.py"),
        subtype("Van", "van.py"),
        subtype("Dock", "hub.py", 2),
        subtype("Van", "van.py", 0, same_as=2),
    )
    assert type_text.type_hierarchy(reply, 4_000).text.split("\n")[1:-1] == [
        "subtypes (3 direct, 1 indirect):",
        "hub.py",
        "  Hub [extends at 3]",
        "  Dock (indirect, over Van) [extends at 3]",
        "van.py",
        "  Van [extends at 3]",
        "in tests:",
        "tests/hub.py",
        "  TestHub [extends at 3]",
        "Complete: no supertype, 4 subtypes; 2 lines of code in 2 files contain ship.",
    ]


def test_subtypes_of_another_kind_are_named_by_it() -> None:
    kinds = {"Hub": SymbolKind.CLASS, "Van": SymbolKind.CLASS, "Size": SymbolKind.ENUM}
    branches = [
        one.model_copy(update={"node": one.node.model_copy(update={"kind": kinds[one.node.symbol]})})
        for one in (subtype(name, "hub.java") for name in kinds)
    ]
    lines = type_text.type_hierarchy(with_subtypes(*branches), 4_000).text.split("\n")
    assert lines[1:6] == [
        "subtypes (3 direct: 2 classes, 1 enum):",
        "hub.java",
        "  Hub [extends at 3]",
        "  Van [extends at 3]",
        "  enum Size [extends at 3]",
    ]


@pytest.mark.parametrize(
    ("tokens", "with_members", "with_edges", "sentence"),
    [
        (1_500, True, True, "Complete: "),
        (700, False, True, "Not complete: overriding members are not listed: raise max_tokens."),
        (430, False, False, "Not complete: overriding members are not listed: raise max_tokens."),
        (200, False, False, "Not complete: "),
    ],
)
def test_details_are_dropped_before_subtypes(tokens, with_members, with_edges, sentence) -> None:
    branches = [subtype(f"Hub{number:02}", "hub.py", overrides=(SHIP, SHIP)) for number in range(60)]
    text = type_text.type_hierarchy(with_subtypes(*branches), tokens).text
    assert ("overriding: Depot.ship" in text) is with_members
    assert ("[extends at 3]" in text) is with_edges
    assert ("  Hub59" in text) is (tokens > 200)
    assert f"\n{sentence}" in text
    assert ("types not listed: raise max_tokens" in text) is (tokens == 200)
    assert len(text) <= 4 * tokens


def test_subtypes_beyond_the_limit_are_counted() -> None:
    reply = with_subtypes(subtype("Hub", "hub.py")).model_copy(update={"total_subtypes": 5})
    assert (
        "\nNot complete: 4 direct types beyond the limit: raise limit."
        in type_text.type_hierarchy(reply, 900).text
    )


def test_what_is_left_out_in_tests_is_counted() -> None:
    types = TYPES.model_copy(update={"tests_left_out": 2})
    assert (
        "1 subtype; 2 direct subtypes in tests left out (source_only);"
        in type_text.type_hierarchy(types, 900).text
    )
    callers = calls(BRANCH, tests_left_out=3, in_text=reconciliation())
    assert (
        "1 direct caller; 3 callers in tests left out (source_only);"
        in call_text.call_hierarchy(callers, 900).text
    )


def test_types_that_fit_by_their_methods_are_counted() -> None:
    update = {"note": "By methods:", "structural": (TOP,), "total_structural": 1, "in_text": reconciliation()}
    text = type_text.type_hierarchy(TYPES.model_copy(update=update), 4_000).text
    assert "By methods:\n  main.py:1 (top level)" in text
    assert "\nComplete: no declared supertype, 1 subtype, 1 type by methods;" in text


def test_types_that_fit_by_the_names_of_their_methods_are_uncertain() -> None:
    update = {
        "note": "By name (?):",
        "structural": (TOP,),
        "total_structural": 1,
        "in_text": reconciliation(),
    }
    text = type_text.type_hierarchy(TYPES.model_copy(update=update), 4_000).text
    assert "By name (?):\n  main.py:1 (top level)" in text
    assert "\nNot complete: 1 type by the names of methods only (?)." in text
    assert "by methods" not in text


def test_what_is_not_known_about_methods_is_not_complete() -> None:
    update = {
        "note": "By methods:",
        "structural": (TOP,),
        "total_structural": 9,
        "embedded_outside": ("x.Base",),
    }
    text = type_text.type_hierarchy(TYPES.model_copy(update=update), 4_000).text
    assert (
        "\nNot complete: 8 types with all methods not listed; methods of x.Base are not in the index" in text
    )


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("impl Ship for Van", "3: impl Ship for Van (3-9)"),
        ("impl<T: Load> Ship for T", "3: impl<T: Load> Ship for T (3-9, blanket)"),
        ("impl<'a, T> Ship for &'a T where T: Load,", "for &'a T where T: Load, (3-9, blanket)"),
        ("impl<T> Ship for Box<T>", "3: impl<T> Ship for Box<T> (3-9)"),
    ],
)
def test_blocks_of_rust_show_their_header_and_lines(header, shown) -> None:
    line = SourceLine(file_path="hub.rs", line=3, text=header, end_line=9)
    reply = with_subtypes(subtype("", "hub.rs")).model_copy(update={"source_lines": (line,)})
    assert shown in type_text.type_hierarchy(reply, 900).text


def test_blocks_in_a_module_in_braces_are_listed_with_their_lines() -> None:
    node = GraphNode(
        file_path="hub.rs", line=1, symbol="far", kind=SymbolKind.MODULE, start_line=1, end_line=20
    )
    lines = tuple(
        SourceLine(file_path="hub.rs", line=at, text=f"impl Ship for {name}", end_line=at + 2)
        for at, name in ((3, "Far"), (7, "Mutex"))
    )
    via = edge(3, 7, kind=EdgeKind.IMPLEMENTS, total=2)
    reply = with_subtypes(TreeBranch(node=node, via=via, depth=1)).model_copy(update={"source_lines": lines})
    text = type_text.type_hierarchy(reply, 900).text
    assert "3: impl Ship for Far (3-5)" in text
    assert "7: impl Ship for Mutex (7-9)" in text


@pytest.mark.parametrize(
    ("text", "listed"),
    [("class Van(ship):", True), ("impl ship for Van {", True), ("ship,", True), ("x = ship(1)", False)],
)
def test_unresolved_headers_may_declare_a_subtype(text, listed) -> None:
    line = IN_SOURCE.model_copy(update={"text": text})
    found = reconciliation(unexplained=1).model_copy(update={"unexplained_lines": (line,)})
    answer = type_text.type_hierarchy(TYPES.model_copy(update={"in_text": found}), 4_000).text
    assert ("other lines that may declare a subtype:" in answer) is listed
    assert ("\nNot complete: 1 line may declare a subtype (listed above)." in answer) is listed


def test_dependencies_mark_candidates_and_count_omissions() -> None:
    sure = FileDependency(
        file_path="depot.py", depth=1, edges=(edge(1, kind=EdgeKind.IMPORTS),), symbols=("Depot",)
    )
    unsure = FileDependency(file_path="van.py", depth=1, edges=(edge(2, sure=False),))
    far = FileDependency(file_path="hub.py", depth=2, edges=(), through="depot.py")
    module = ExternalModule(module="decimal", files=2, file_path="main.py", line=1)
    reply = DependenciesReply(
        files=("main.py",),
        total_files=1,
        uses=(sure, unsure, far),
        total_uses=3,
        unsure_used_by=4,
        externals=(module,),
        total_externals=3,
        cycles=(("main.py", "depot.py", "main.py"),),
        receipt=RECEIPT,
    )
    assert walks.dependencies(reply).text.split("\n")[:-1] == [
        "dependencies of main.py",
        "uses (3 files):",
        "  depot.py [imports at 1]: Depot",
        "? van.py [calls at 2]",
        "  hub.py (depth 2, through depot.py)",
        "used by (0 files, 4 more over candidates only (include_candidates)):",
        "external modules (3): decimal (2 files) … and 2 more",
        "cycle: main.py → depot.py → main.py",
    ]
    assert walks.fit_dependencies(reply, 100) == 1


def test_impact_lists_files_symbols_and_tests() -> None:
    one = AffectedNode(
        node=LOAD, distance=1, status=EdgeStatus.CANDIDATE, via=edge(33, sure=False), uses=SHIP
    )
    reply = ImpactReply(
        files=(DiffFile(file_path="depot.py", state=DiffState.DOES_NOT_APPLY, detail="line 3 differs"),),
        changed=(ChangedSymbol(node=SHIP, exported=True, signature=True, used_by=1),),
        total_changed=1,
        affected=(one,),
        total_affected=5,
        resolved_affected=2,
        tests=(),
        total_tests=0,
        depth=3,
        test_depth=6,
        by_file={"van.py": 5},
        receipt=RECEIPT,
    )
    assert impacts.impact(reply, 4_000).text.split("\n")[:-1] == [
        "depot.py: does_not_apply (line 3 differs)",
        "source files affected: van.py 5",
        "changed by the diff (1):",
        "  depot.py:12 Depot.ship (public, its signature changes, used directly by 1)",
        "uses it directly, by name only (?):",
        "  van.py",
        "    load [calls at 33]",
        (
            "Not complete: 3 of the 5 affected match by name only (1 of them listed, the others follow by next_cursor);"
            " 4 of 5 are on other pages."
            " 5 affected and 0 tests in the graph."
        ),
    ]
    assert impacts.fit_impact(reply, 4_000) == 1


def test_impact_shows_call_sites_and_tests_by_file() -> None:
    direct = AffectedNode(node=LOAD, distance=1, status=EdgeStatus.RESOLVED, via=edge(33, 41), uses=SHIP)
    further = AffectedNode(node=TOP, distance=2, status=EdgeStatus.RESOLVED, via=edge(5), uses=LOAD)
    test = GraphNode(
        file_path="t.py",
        line=4,
        start_line=4,
        end_line=6,
        symbol="Tests.check",
        kind=SymbolKind.METHOD,
        test=True,
    )
    near = AffectedNode(node=test, distance=1, status=EdgeStatus.RESOLVED, via=edge(5), uses=SHIP)
    reply = ImpactReply(
        changed=(ChangedSymbol(node=SHIP, exported=False, signature=True, used_by=2),),
        total_changed=1,
        affected=(direct, further),
        total_affected=2,
        resolved_affected=2,
        tests=(near, near.model_copy(update={"distance": 4})),
        total_tests=2,
        resolved_tests=2,
        test_commands=(RunCommand(runner="pytest", command="pytest t.py::Tests::check", tests=2),),
        depth=3,
        test_depth=6,
        in_text=reconciliation(text_lines=4, files=3),
        source_lines=LINES,
        receipt=RECEIPT,
    )
    assert impacts.impact(reply, 4_000).text.split("\n")[:-1] == [
        "if this changes:",
        "  depot.py:12 Depot.ship (used directly by 2)",
        "uses it directly:",
        "  van.py",
        "    load",
        "      33: depot.ship(1)",
        "      41: depot.ship(2)",
        "further away, within 3 uses, each with its depth:",
        "  main.py",
        "    2 top level 5: it.ship()",
        "tests that reach it, nearest first (2):",
        "  t.py: depth 1: check 4-6; depth 4: check 4-6",
        "run: pytest t.py::Tests::check",
        (
            "Complete for direct uses: 2 affected and 2 tests in the graph; 4 lines of code in 3 files contain ship. "
            "Further levels follow resolved uses and were not compared with the text."
        ),
    ]


def test_lines_that_connect_tests_by_name_only_are_shown() -> None:
    node = GraphNode(file_path="t.py", line=4, start_line=4, end_line=9, symbol="check")
    unsure = AffectedNode(
        node=node, distance=1, status=EdgeStatus.CANDIDATE, via=edge(6, sure=False), uses=LOAD
    )
    reply = ImpactReply(
        changed=(), total_changed=1, affected=(), total_affected=0, resolved_affected=0, tests=(unsure,),
        total_tests=1, depth=3, test_depth=6, receipt=RECEIPT,
        source_lines=(SourceLine(file_path="t.py", line=6, text="one.load()"),),
    )  # fmt: skip
    text = impacts.impact(reply, 4_000).text
    assert (
        "  t.py: depth 1: ?check 4-9\nlines of tests by name only (?):\nt.py\n  check (4-9) 6: one.load()\n"
        in text
    )


def further(symbol: str, file: str, distance: int, line: int) -> AffectedNode:
    node = GraphNode(file_path=file, line=line, symbol=symbol)
    return AffectedNode(node=node, distance=distance, status=EdgeStatus.RESOLVED, via=edge(line), uses=LOAD)


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (
            ComparedLevels(levels=2, names=2, text_lines=7),
            (
                "Complete: 2 affected and 0 tests in the graph; 4 lines of code in 3 files contain ship; 7 lines of code"
                " contain the names of 2 affected symbols, compared up to depth 3."
            ),
        ),
        (
            ComparedLevels(levels=1, names=2, text_lines=7, names_left_out=30),
            (
                "Complete for uses within 2 levels: 2 affected and 0 tests in the graph; 4 lines of code in 3 files contain"
                " ship; 7 lines of code contain the names of 2 affected symbols, compared up to depth 2."
                " 30 names of further levels are too many to compare with the text: ask about one."
            ),
        ),
        (
            ComparedLevels(levels=2, names=1, text_lines=7, by_name=3, by_name_of=("load",)),
            (
                "Not complete: uses of load by name only, not followed: 3 lines (find_references(symbols=['load'])"
                " lists them). 2 affected"
            ),
        ),
        (
            ComparedLevels(
                levels=2,
                names=1,
                unexplained=1,
                unexplained_of=("load",),
                unexplained_lines=(TextLine(repo="r", file_path="cron.py", line=3, text="plan(van.load)"),),
            ),
            "Not complete: 1 line of code with names of affected symbols (load) could not be resolved (listed above).",
        ),
    ],
)
def test_impact_says_which_levels_were_compared_with_the_text(levels, said) -> None:
    reply = ImpactReply(
        changed=(ChangedSymbol(node=SHIP, exported=False, signature=True, used_by=1),),
        total_changed=1,
        affected=(further("load", "van.py", 1, 33), further("main", "main.py", 2, 5)),
        total_affected=2,
        resolved_affected=2,
        tests=(),
        total_tests=0,
        depth=3,
        test_depth=6,
        in_text=reconciliation(text_lines=4, files=3),
        levels_in_text=levels,
        receipt=RECEIPT,
    )
    text = impacts.impact(reply, 4_000).text
    assert f"\n{said}" in text
    assert ("cron.py\n  3: plan(van.load)" in text) is bool(levels.unexplained)


NAMED = TextLine(
    repo="r", file_path="cron.py", line=8, text="x" * 120,
    enclosing=EnclosingSymbol(name="plan", start_line=6, end_line=9),
)  # fmt: skip


def test_uses_by_name_that_are_not_followed_are_shown_with_their_text() -> None:
    levels = ComparedLevels(levels=1, names=1, by_name=4, by_name_of=("load",), by_name_lines=(NAMED,))
    further_call = TreeBranch(node=LOAD, via=edge(5), parent=0, depth=2)
    reply = calls(BRANCH, further_call, total=1, in_text=reconciliation(), levels_in_text=levels)
    answer = call_text.call_hierarchy(reply, 4_000)
    assert (
        "\nuses of load by name only (?), not followed (4, the first 1):\ncron.py\n"
        f"  plan (6-9) 8: {'x' * 100}…\n  … and 3 more: find_references(symbols=['load'])\n"
    ) in answer.text
    assert "Not complete: uses of load by name only, not followed: 4 lines (1 listed above)." in answer.text
    assert answer.structured["levels_in_text"]["by_name_lines"][0]["line"] == 8


def test_callers_of_callers_are_complete_if_the_text_agrees() -> None:
    further_call = TreeBranch(node=LOAD, via=edge(5), parent=0, depth=2)
    fields = {"total": 1, "in_text": reconciliation(text_lines=2, files=1)}
    whole = calls(
        BRANCH, further_call, levels_in_text=ComparedLevels(levels=1, names=1, text_lines=7), **fields
    )
    assert (
        "\nComplete: 1 direct caller; 2 lines of code in 1 file contain ship; 7 lines of code contain the name of a"
        " calling symbol, compared up to depth 2.\n"
    ) in call_text.call_hierarchy(whole, 4_000).text
    part = ComparedLevels(levels=1, names=1, text_lines=7, names_left_out=30)
    text = call_text.call_hierarchy(calls(BRANCH, further_call, levels_in_text=part, **fields), 4_000).text
    assert "\nComplete for callers within 2 levels: " in text
    assert "30 names of further levels are too many to compare with the text" in text


def test_lines_of_another_meaning_are_shown_where_others_are_in_doubt() -> None:
    other = IN_SOURCE.model_copy(update={"text": "other.ship()"})
    doubts = reconciliation(text_lines=2, candidates=1).model_copy(
        update={"other": (other,), "other_lines": 1, "name": "ship"}
    )
    text = call_text.call_hierarchy(calls(BRANCH, in_text=doubts), 4_000).text
    assert "\nanother ship (1):\nvan.py\n  check (5-9) 7: other.ship()\n" in text
    sure = doubts.model_copy(update={"candidates": 0})
    text = call_text.call_hierarchy(calls(BRANCH, in_text=sure), 4_000).text
    assert "other.ship()" not in text
    assert "1 another ship)" in text
    many = doubts.model_copy(update={"other": (), "other_lines": 139})
    text = call_text.call_hierarchy(calls(BRANCH, in_text=many), 4_000).text
    assert "139 another ship: find_references(symbols=['ship'], page='other')" in text


def test_users_of_users_are_listed_once_per_file_with_their_line() -> None:
    affected = (
        further("Hub.two", "hub.py", 2, 8),
        further("two", "a.py", 2, 9),
        further("Hub.three", "hub.py", 3, 4),
    )
    lines = [SourceLine(file_path="hub.py", line=line, text=f"call {line}") for line in (4, 8)]
    reply = ImpactReply(
        changed=(),
        total_changed=1,
        affected=affected,
        total_affected=3,
        resolved_affected=3,
        tests=(),
        total_tests=0,
        depth=3,
        test_depth=6,
        source_lines=tuple(lines),
        receipt=RECEIPT,
    )
    assert impacts.impact(reply, 4_000).text.split("\n")[1:-2] == [
        "further away, within 3 uses, each with its depth:",
        "  a.py",
        "    2 two through load",
        "  hub.py",
        "    2 Hub.two 8: call 8",
        "    3 Hub.three 4: call 4",
    ]
    assert "    2 Hub.two through load" in impacts.impact(reply, 40).text


def test_answers_about_several_symbols_share_one_receipt() -> None:
    one = call_text.call_hierarchy(calls(BRANCH, in_text=reconciliation()), 4_000)
    answer = joined([("ship", one), ("load", one), ("none", Answer({"error": {}}, "none: not found"))])
    assert answer.text.count("graph of bbbbbbbbbb") == 1
    assert answer.text.count("Complete: 1 direct caller") == 2
    assert answer.text.split("\n")[-3:-1] == ["none: not found", ""]
    assert set(answer.structured["answers"]) == {"ship", "load", "none"}


def test_a_caller_that_is_a_local_function_shows_the_function_around_it() -> None:
    outer = EnclosingSymbol(name="load", start_line=3, end_line=20)
    node = LOAD.model_copy(update={"symbol": "load.check", "start_line": 5, "end_line": 8, "outer": outer})
    reply = calls(TreeBranch(node=node, via=edge(6), depth=1))
    answered = call_text.call_hierarchy(reply, 4_000)
    assert "load (3-20) \u203a check (5-8)" in answered.text
    assert answered.structured["branches"][0]["node"]["outer"]["start_line"] == 3


def test_a_subtype_without_a_name_is_marked_with_what_holds_it() -> None:
    held = LOAD.model_copy(
        update={"kind": SymbolKind.FUNCTION, "symbol": "mixin", "start_line": 30, "end_line": 40}
    )
    (branch,) = TYPES.subtypes
    update = {"subtypes": (branch.model_copy(update={"node": held, "overrides": ()}),)}
    text = type_text.type_hierarchy(TYPES.model_copy(update=update), 4_000).text
    assert "subtypes (1 direct: 1 anonymous class):\nvan.py\n  anonymous class, held by mixin (30-40)" in text


def test_type_outside_of_the_repository_says_where_it_comes_from() -> None:
    outside = OutsideType(
        name="Closeable",
        modules=(OutsideModule(module="java.io", types=2), OutsideModule(module="", types=1)),
    )
    text = reconciliation(
        text_lines=3, files=2, other_lines=3, unexplained=2, unexplained_lines=(UNRESOLVED, DECLARING)
    )
    update = {"roots": (), "outside": outside, "in_text": text}
    lines = type_text.type_hierarchy(TYPES.model_copy(update=update), 4_000).text.split("\n")
    assert (
        lines[0]
        == "Closeable is not defined in this repository, imported from java.io (2 types), 1 type without a module"
    )
    at = lines.index("other lines that may declare a subtype:")
    assert [line.strip() for line in lines[at + 1 : -2]] == ["z.py", "9: class Late(Closeable):"]
    assert lines[-2] == (
        "Not complete: 1 line may declare a subtype (listed above)."
        " 1 subtype; 3 lines of code in 2 files contain Closeable."
    )


@pytest.mark.parametrize(
    ("text", "lack"),
    [
        (None, "it was not compared with the text"),
        ({"unexplained": 3}, "3 lines of code with the name could not be resolved (find_references)"),
        ({"files_left_out": 2}, "2 files that may contain the name were not read"),
    ],
)
def test_type_outside_is_complete_only_as_far_as_the_text_was_read(text, lack) -> None:
    update = {
        "roots": (),
        "outside": OutsideType(name="Closeable", modules=()),
        "in_text": None if text is None else reconciliation(**text),
    }
    assert f"Not complete: {lack}." in type_text.type_hierarchy(TYPES.model_copy(update=update), 900).text


def test_what_is_beyond_the_limits_of_a_hierarchy_has_its_own_advice() -> None:
    update = {"total_subtypes": 3, "below_left_out": 4, "filtered_out": 6, "in_text": reconciliation()}
    text = type_text.type_hierarchy(TYPES.model_copy(update=update), 900).text
    assert "2 direct types beyond the limit: raise limit;" in text
    assert "4 types of further levels beyond the limit: ask about a type listed above." in text
    assert "6 direct subtypes outside the filter" in text
    (branch,) = TYPES.subtypes
    update = {"subtypes": (branch,) * WALK_LIMIT_MAX, "total_subtypes": WALK_LIMIT_MAX + 1}
    text = type_text.type_hierarchy(TYPES.model_copy(update=update), 9_000).text
    assert "1 direct type beyond the limit: find_references with path_filter narrows" in text


def test_standard_interface_without_a_type_that_has_its_methods_says_so() -> None:
    update = {
        "roots": (), "subtypes": (), "total_subtypes": 0, "outside": OutsideType(name="io.Reader", modules=()),
        "note": "These have all methods of io.Reader:", "in_text": reconciliation(),
    }  # fmt: skip
    lines = type_text.type_hierarchy(TYPES.model_copy(update=update), 4_000).text.split("\n")
    assert lines[0] == "io.Reader is not defined in this repository"
    assert lines[1].startswith("Complete: no declared subtype, no type has all of its methods; no line")


UNRESOLVED = TextLine(repo="acme/app", file_path="z.py", line=4, text="except Closeable:")
DECLARING = TextLine(repo="acme/app", file_path="z.py", line=9, text="class Late(Closeable):")


def test_levels_say_which_of_the_lines_are_listed_and_how_many_names_they_have() -> None:
    names = tuple(f"load{n}" for n in range(5))
    levels = ComparedLevels(
        levels=1, names=5, by_name=1, by_name_of=names, by_name_lines=(NAMED,), unexplained=9,
        unexplained_of=("load", "ship"), unexplained_lines=(NAMED,),
    )  # fmt: skip
    lacks = list(level_parts.levels_lack(levels))
    assert lacks == [
        "9 lines of code with names of affected symbols (load, ship) could not be resolved (1 listed above)",
        "uses of load0, load1, load2 and 2 more names by name only, not followed: 1 line (listed above)",
    ]


def test_calls_in_tests_with_titles_stand_below_their_group() -> None:
    group = EnclosingSymbol(name="describe 'depot'", kind="test", start_line=2, end_line=20)
    ships = EnclosingSymbol(
        name="it 'ships'", kind="test", start_line=5, end_line=8, outer=group, marks=("skip",)
    )
    hook = EnclosingSymbol(name="beforeEach", kind="hook", start_line=3, end_line=3, outer=group)
    spec = GraphNode(file_path="depot.test.ts", line=1, test=True)
    reply = calls(
        TreeBranch(node=spec, via=edge(1, 3, 6, total=5), depth=1),
        source_lines=(
            SourceLine(file_path="depot.test.ts", line=1, text="load()"),
            SourceLine(file_path="depot.test.ts", line=3, text="beforeEach(load)", test=hook),
            SourceLine(file_path="depot.test.ts", line=6, text="await load()", test=ships),
        ),
    )
    text = call_text.call_hierarchy(reply, 2_000).text.split("\n")
    at = text.index("in tests:")
    assert text[at + 1 : at + 7] == [
        "depot.test.ts",
        "  top level 1: load()",
        "  describe 'depot' (2-20):",
        "    beforeEach (3) 3: beforeEach(load)",
        "    it 'ships' (5-8, skip) 6: await load()",
        "    … 2 more",
    ]
