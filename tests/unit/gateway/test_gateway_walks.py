"""Traversals of the graph as text: what each line shows, and what fits."""

from datetime import UTC, datetime

import pytest

from prism_contracts.code import EdgeKind, EdgeStatus, Strategy
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import (
    AffectedNode,
    CallDirection,
    CallHierarchyReply,
    ChangedSymbol,
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
    PathSearch,
    TreeBranch,
    TypeHierarchyReply,
)
from prism_contracts.rpc.symbols import Reconciliation
from prism_gateway.mcp.answers import walks

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


def test_a_tree_is_drawn_with_indented_branches() -> None:
    answer = walks.call_hierarchy(calls(*TREE, total=2, next_cursor="c"), 4_000)
    assert answer.text.split("\n")[:-2] == [
        "callers of depot.py:12 Depot.ship",
        "  van.py:30 load [calls at 33, 41 and 5 more]",
        "    depot.py:12 Depot.ship [calls at 13] (recursion)",
        "    … and 2 more: ask about load",
        "? main.py:1 (top level) [calls at 5]",
        "direct callers: 2, shown 2.",
    ]
    assert "graph of bbbbbbbbbb" in answer.text
    assert answer.text.endswith("next_cursor: c")
    assert "truncated" not in answer.structured


def test_cut_branches_are_counted_at_their_parent() -> None:
    answer = walks.call_hierarchy(calls(*TREE, total=2), 100)
    assert [branch.get("left_out", 0) for branch in answer.structured["branches"]] == [3, 0]
    assert answer.structured["truncated"]


def test_a_node_shows_the_range_of_its_symbol() -> None:
    ranged = LOAD.model_copy(update={"start_line": 28, "end_line": 44})
    branch = TreeBranch(node=ranged, via=edge(33), depth=1)
    assert "van.py:28-44 load [calls at 33]" in walks.call_hierarchy(calls(branches=(branch,)), 4_000).text


def test_branches_fit_into_the_budget_from_the_top() -> None:
    branches = [TreeBranch(node=LOAD, via=edge(1), depth=1)] * 100
    few, many = (walks.fit_branches(branches, tokens) for tokens in (200, 2_000))
    assert 1 <= few < many < 100


def reconciliation(**counts: int) -> Reconciliation:
    none = dict.fromkeys(("resolved", "candidates", "elsewhere", "text_lines", "unexplained", "files"), 0)
    return Reconciliation(**(none | counts))


@pytest.mark.parametrize(
    ("in_text", "expected"),
    [
        (reconciliation(text_lines=1), "The text confirms it"),
        (reconciliation(text_lines=3, unexplained=2), "The text does not confirm it"),
        (reconciliation(candidates=1), "The text does not confirm it"),
        (reconciliation(text_lines=2, mentions=2), "No code uses it. 2 lines in comments or strings"),
        (reconciliation(files_left_out=1), "The text does not confirm it"),
        (None, "Not checked against the text"),
    ],
)
def test_no_callers_is_claimed_only_if_the_text_agrees(in_text, expected) -> None:
    answer = walks.call_hierarchy(calls(in_text=in_text, other_uses={EdgeKind.IMPORTS: 3}), 4_000)
    assert f"\n{expected}" in answer.text
    assert "Other uses: imports 3" in answer.text


def test_paths_list_edges_and_misses_what_was_searched() -> None:
    path = GraphPath(nodes=(LOAD, SHIP), edges=(edge(33, sure=False),))
    search = PathSearch(forward=True, edges="calls", candidates=True, visited=7, found=0)
    reply = FindPathReply(source=(LOAD,), target=(SHIP,), paths=(path,), searches=(search,), receipt=RECEIPT)
    assert "? → depot.py:12 Depot.ship [calls at 33]" in walks.find_path(reply, 4_000).text
    backward = reply.model_copy(update={"paths": (), "backward": (path,)})
    text = walks.find_path(backward, 4_000).text
    assert "source to target over calls, with candidates: only 7 nodes reach the end" in text
    assert "but in the opposite direction:" in text


def test_types_state_what_the_graph_cannot_know() -> None:
    reply = TypeHierarchyReply(
        roots=(SHIP,),
        supertypes=(),
        subtypes=(TreeBranch(node=LOAD, via=edge(1, kind=EdgeKind.EXTENDS), depth=1, overrides=(SHIP,)),),
        total_supertypes=0,
        total_subtypes=1,
        note="Types here need no names.",
        structural=(TOP,),
        total_structural=9,
        receipt=RECEIPT,
    )
    text = walks.type_hierarchy(reply, 4_000).text
    assert "supertypes: none in the graph; find_references searches the text." in text
    assert "    overriding: Depot.ship:12" in text
    assert "Types here need no names. 9:\n? main.py:1 (top level)" in text


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
    assert walks.impact(reply, 4_000).text.split("\n")[:-1] == [
        "depot.py: does_not_apply (line 3 differs)",
        "changed (1):",
        "  depot.py:12 Depot.ship public signature, used by 1",
        "affected within 3 uses (5):",
        "? 1 van.py:30 load [calls at 33] Depot.ship",
        "tests within 6 uses: none in the graph; find_references searches the text.",
        "2 affected over resolved edges, 3 over candidates (?).",
        "most affected: van.py 5",
    ]
    assert walks.fit_impact(reply, 4_000) == 1
