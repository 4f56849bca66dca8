"""References as text: what the counts cover."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolKind
from prism_contracts.rpc.symbols import (
    Definition,
    Reconciliation,
    ReferenceEntry,
    ReferenceGroup,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
)
from prism_gateway.mcp.answers import references

WEIGH = Symbol(
    name="weigh", qualified_name="weigh", kind=SymbolKind.FUNCTION, start_line=1, end_line=2, name_line=1, signature="def weigh()"
)  # fmt: skip
DEFINITION = Definition(repo="acme/app", file_path="scale.py", language="python", symbol=WEIGH)
CALL = ReferenceEntry(
    repo="acme/app", file_path="app/depot.py", line=4, symbol="run", group=ReferenceGroup.CALLERS,
    edge=EdgeKind.CALLS, status=EdgeStatus.RESOLVED, strategy=Strategy.IMPORT, text="weigh(1)",
)  # fmt: skip
TOLD = Reconciliation(
    resolved=7, candidates=1, elsewhere=2, text_lines=12, unexplained=0, files=3, prose_lines=5, prose_files=2
)


def rendered(entries: tuple[ReferenceEntry, ...] = (CALL,), **asked: object):
    found = SymbolReferences(
        symbol="weigh",
        definitions=(DEFINITION,),
        total_definitions=1,
        entries=entries,
        counts={ReferenceGroup.CALLERS: 3} if entries else {},
        reconciliation=TOLD,
    )
    request = ReferencesRequest(tenant="t", symbols=("weigh",), **asked)
    answer = references.answer(ReferencesReply(answers=(found,), receipt=RECEIPT), request)
    return answer.structured["answers"][0], answer.text.splitlines()


def test_lines_of_prose_are_counted_separately() -> None:
    structured, lines = rendered()
    assert (
        "7 references resolved, 1 candidates (?), 2 references of the name to other symbols; "
        "12 lines in 3 files contain the name, 0 of them outside definitions and references."
    ) in lines
    assert "5 more lines in 2 prose files (such as Markdown) contain it." in lines
    assert structured["reconciliation"].items() >= {"files": 3, "prose_lines": 5, "prose_files": 2}.items()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"path_filter": "app/**"}, "in app/**"),
        ({"reference_type": EdgeKind.CALLS}, "calls only"),
        ({"source_only": True, "path_filter": "app/**"}, "in app/**, without tests"),
    ],
)
def test_counts_state_whether_they_are_filtered(asked, words) -> None:
    structured, lines = rendered(**asked)
    assert structured["filter"] == asked
    assert structured["reconciliation"]["filtered"] is False
    assert f"callers (3 {words}):" in lines
    at = lines.index(f"Without the filter ({words}):")
    assert lines[at + 1].startswith("7 references resolved")


def test_an_empty_filtered_result_is_stated() -> None:
    _, lines = rendered((), path_filter="app/**")
    assert lines[1:3] == ["none in app/**", "Without the filter (in app/**):"]


def test_without_a_filter_none_is_mentioned() -> None:
    structured, lines = rendered()
    assert "filter" not in structured
    assert "callers (3):" in lines
    assert not any(line.startswith("Of all") for line in lines)
