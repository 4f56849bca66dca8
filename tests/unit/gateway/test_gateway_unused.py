"""Unused code as text: groups, what stands in the way, and what was not examined."""

import pytest
from gateway_receipts import RECEIPT as BASE

from prism_contracts.code import SymbolKind
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import GraphNode
from prism_contracts.rpc.unused import DoubtReason, UnusedDefinition, UnusedGroup, UnusedReply, UseDoubt
from prism_gateway.mcp.answers import unused as unused_text
from prism_gateway.mcp.tools.unused import FindUnused

RECEIPT = GraphReceipt(
    **BASE.model_dump(), graph_commit="b" * 40, graph_version=1, graph_built_at="2026-01-02T00:00:00Z"
)


def node(symbol, line=3, path="depot.py"):
    return GraphNode(
        file_path=path,
        line=line,
        start_line=line,
        end_line=line + 1,
        symbol=symbol,
        kind=SymbolKind.FUNCTION,
    )


def reply(*definitions, **more):
    counts = {}
    for one in definitions:
        counts[one.group] = counts.get(one.group, 0) + 1
    return UnusedReply(definitions=definitions, counts=counts, examined=9, receipt=RECEIPT, **more)


def text(*definitions, **more):
    return unused_text.unused(reply(*definitions, **more)).text.split("\n")


def test_a_definition_has_its_place_and_how_sure_it_is():
    lines = text(
        UnusedDefinition(node=node("seal"), group=UnusedGroup.UNUSED, certain=True),
        UnusedDefinition(
            node=node("wax", 9), group=UnusedGroup.UNUSED, below=0, users=(node("seal"),), total_users=1
        ),
    )
    assert lines[:4] == [
        "unused: no use in the graph, and no other line of code has the name (2):",
        "  depot.py",
        "    seal (3-4): function; certain",
        "      wax (9-10): function; likely; only used by seal",
    ]
    assert lines[4] == "9 definitions examined: 2 unused."


@pytest.mark.parametrize("reason", [*DoubtReason])
def test_each_doubt_is_told(reason):
    doubt = UseDoubt(reason=reason, file_path="jobs.yaml", line=7, text="@task", total=2)
    one = UnusedDefinition(
        node=node("seal"), group=UnusedGroup.UNCLEAR, doubts=(doubt,), references_elsewhere=2
    )
    line = "\n".join(text(one))
    assert {
        DoubtReason.TEXT: "the name is also at jobs.yaml:7 and 1 more",
        DoubtReason.NAMESAKE: "2 uses of the name mean another definition",
        DoubtReason.REGISTERED: "@task at line 7 may register it",
    }.get(reason, unused_text._doubt(doubt)) in line


def test_lookups_at_run_time_are_told_once():
    doubt = UseDoubt(reason=DoubtReason.DYNAMIC, file_path="jobs.py", line=4, text="getattr(a, b)")
    found = [
        UnusedDefinition(node=node(name), group=UnusedGroup.UNUSED, doubts=(doubt,)) for name in ("a", "b")
    ]
    assert sum("looked up at run time" in line for line in text(*found)) == 1


def test_what_was_not_examined_is_told():
    lines = text(not_compared=3, other_languages={"sql": 2})
    assert lines[0] == "no definition without a use"
    assert "Not complete: 3 definitions could not be compared with the text." in lines
    assert "Not examined, by language and files: sql (2)." in lines


def test_only_what_fits_is_kept():
    many = [UnusedDefinition(node=node(f"seal_{number}"), group=UnusedGroup.UNUSED) for number in range(100)]
    kept = unused_text.fit_unused(reply(*many), 500)
    assert 0 < kept < 20
    assert unused_text.fit_unused(reply(), 500) == 0


def test_groups_and_kinds_are_checked():
    assert FindUnused(group="tests_only", kind="class").group == "tests_only"
    with pytest.raises(ValueError, match="is one of unused, tests_only"):
        FindUnused(group="dead")
