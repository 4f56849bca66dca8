"""The context of an edit, within a budget."""

import json
from datetime import UTC, datetime

import pytest

from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolKind
from prism_contracts.records import (
    Anchor,
    AnchoredKind,
    AnchorKind,
    HistoryCommit,
    Staleness,
    StaleReason,
)
from prism_contracts.rpc.anchors import Concerning, ConcerningReply
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.guidance import EditContextReply, ReachingTest, RecentChanges, RulesDocument
from prism_contracts.rpc.symbols import Reconciliation, ReferenceEntry, ReferenceGroup, SymbolReferences
from prism_gateway.mcp.answers import edit_uses
from prism_gateway.mcp.answers.edit_context import answer, shorten
from prism_gateway.mcp.answers.quotes import block, fit_documents

RECEIPT = Receipt(
    repo="acme/app", indexed_commit="a" * 40, head_commit="a" * 40, lag_seconds=0, indexed_at=None, corpus_version=1,
    files_indexed=3, files_skipped=0, files_failed=0,
)  # fmt: skip
SYMBOL = Symbol(
    name="weigh", qualified_name="Depot.weigh", kind=SymbolKind.METHOD, start_line=3, end_line=90, name_line=3, signature="def weigh()"
)  # fmt: skip
RECONCILIATION = Reconciliation(resolved=60, candidates=0, elsewhere=0, text_lines=70, unexplained=0, files=3)
PLACE = Anchor(repo="r", kind=AnchorKind.FILE, path="docs/a.md", commit="c1", blob="b")
CHANGED = Staleness(
    reason=StaleReason.TEXT_CHANGED, commit="4f7c2b9", found_at=datetime(2026, 1, 1, tzinfo=UTC)
)
A_TASK = Concerning(
    kind=AnchoredKind.TASK,
    subject="t1",
    title="Weigh once",
    status="in-progress",
    anchors=(PLACE.model_copy(update={"symbol": "Depot.weigh", "stale": CHANGED}), PLACE),
)
NONE = ConcerningReply(concerning=(), total=0)
# Besides the parts that share the budget.
FIXED_CHARS = 700


def entry(line: int) -> ReferenceEntry:
    return ReferenceEntry(
        repo="acme/app", file_path="app/depot.py", line=line, symbol=f"run_{line}", group=ReferenceGroup.CALLERS,
        edge=EdgeKind.CALLS, status=EdgeStatus.RESOLVED, strategy=Strategy.IMPORT, text=f"weigh({line})",
    )  # fmt: skip


def document(content: str, **fields: object) -> RulesDocument:
    lines = content.count("\n") + 1
    given = {
        "file_path": "AGENTS.md",
        "line_count": lines,
        "start_line": 1,
        "end_line": lines,
        "applies": "repository",
    }
    return RulesDocument(content=content, **(given | fields))


def reply(**fields: object) -> EditContextReply:
    entries = tuple(map(entry, range(60)))
    given = {
        "content": "\n".join(f"    line {n}" for n in range(88)),
        "references": SymbolReferences(
            symbol="Depot.weigh", definitions=(), total_definitions=1, entries=entries, counts={ReferenceGroup.CALLERS: 60},
            reconciliation=RECONCILIATION,
        ),
        "rules": (document("Weigh twice.\n" * 200),),
        "symbol": SYMBOL,
    }  # fmt: skip
    return EditContextReply(
        repo="acme/app", file_path="depot.py", language="python", start_line=3, end_line=90,
        receipt=RECEIPT, **(given | fields),
    )  # fmt: skip


def test_a_function_that_calls_it_twice_is_one_row() -> None:
    calls = [entry(4), entry(9).model_copy(update={"symbol": "run_4"}), entry(12)]
    uses = reply().references.model_copy(
        update={"entries": tuple(calls), "counts": {ReferenceGroup.CALLERS: 3}}
    )
    text = answer(reply(references=uses), 4_000).text
    assert "3 calls:\n  app/depot.py\n    run_4 4/9: weigh(4)\n    run_12 12: weigh(12)\n" in text


def test_the_first_matches_of_a_common_name_are_listed() -> None:
    sure, *rest = map(entry, range(edit_uses.CANDIDATES_MAX + 2))
    unsure = [one.model_copy(update={"status": EdgeStatus.CANDIDATE}) for one in rest]
    counted = RECONCILIATION.model_copy(update={"candidate_lines": 11, "unexplained": 21})
    uses = reply().references.model_copy(
        update={"entries": (sure, *unsure), "counts": {ReferenceGroup.CALLERS: 12}, "reconciliation": counted}
    )
    text = answer(reply(references=uses), 8_000).text
    assert (
        "1 call:\n  app/depot.py\n    run_0 0: weigh(0)\nby name only (?), another symbol may be meant:\n"
        in text
    )
    assert "    run_5 5: weigh(5)\n… and 6 more: find_references(" in text
    assert (
        "Not complete: 11 uncertain lines (?); 21 lines of code could not be resolved (find_references"
        in text
    )


def test_a_test_is_never_both_counted_and_denied() -> None:
    unsure = tuple(
        ReachingTest(file_path="tests/a.py", line=n, symbol=f"test_{n}", status=EdgeStatus.CANDIDATE)
        for n in range(edit_uses.CANDIDATES_MAX + 1)
    )
    text = answer(reply(tests=unsure, test_counts={EdgeStatus.CANDIDATE: 11}), 8_000).text
    assert "tests that use it or its callers (0, 11 by name only (?)):\n  … and 11 more" in text


def test_tests_without_a_function_and_through_a_caller_are_one_row_each() -> None:
    given = {"file_path": "tests/a.js", "status": EdgeStatus.RESOLVED}
    tests = (
        ReachingTest(line=3, symbol="", **given),
        ReachingTest(line=5, symbol="one", via="run", **given),
        ReachingTest(line=9, symbol="two", via="run", **given),
    )
    text = answer(reply(tests=tests, test_counts={EdgeStatus.RESOLVED: 3}), 8_000).text
    assert "  tests/a.js: top level:3\n  tests/a.js through run: one:5; two:9\n" in text


def test_rules_take_a_small_share_of_the_answer() -> None:
    text = answer(reply(rules=(document("Weigh twice.\n" * 200, headings=("1 # Rules",)),)), 1_200, NONE).text
    quoted = text[text.index("rules (quoted") : text.index("note: cut")]
    assert 300 < len(quoted) < 700
    assert "further headings" not in quoted


@pytest.mark.parametrize("max_tokens", [300, 500, 1_000, 2_000])
def test_the_answer_stays_within_its_budget_and_says_so(max_tokens) -> None:
    found = answer(reply(), max_tokens)
    assert len(found.text) <= max_tokens * 4 + FIXED_CHARS
    assert found.structured["truncated"]
    assert f"cut to max_tokens={max_tokens}" in found.text
    # Data is for programs, and repeats the names of its fields.
    assert len(json.dumps(found.structured)) <= 4 * max_tokens * 4 + 3 * FIXED_CHARS


def test_an_answer_that_fits_is_complete() -> None:
    found = answer(reply(), 20_000)
    assert "truncated" not in found.structured
    assert "line 87" in found.text
    assert "Weigh twice." in found.text


def test_short_parts_leave_their_budget_to_long_ones() -> None:
    long_source = reply(references=None, rules=())
    assert len(shorten(long_source, 300).content) > len(shorten(reply(), 300).content)


def test_a_cut_source_names_the_next_line() -> None:
    assert "more lines: read_file from line" in shorten(reply(), 300).content


def test_no_callers_is_stated_only_with_a_check_of_the_text() -> None:
    counts = RECONCILIATION.model_copy(update={"resolved": 0, "unexplained": 4})
    uses = SymbolReferences(symbol="Depot.weigh", definitions=(), total_definitions=1, reconciliation=counts)
    text = answer(reply(references=uses), 4_000).text
    assert "uses of Depot.weigh: none found\n" in text
    assert "4 lines of code could not be resolved (find_references with page=unresolved lists them)" in text
    assert "70 lines of code in 3 files contain Depot.weigh" in text


def test_tests_found_by_name_are_marked_as_candidates() -> None:
    test = ReachingTest(file_path="tests/a.py", line=4, symbol="test_a", status=EdgeStatus.CANDIDATE)
    text = answer(reply(tests=(test,), test_counts={EdgeStatus.CANDIDATE: 1}, test_depth=2), 4_000).text
    assert "tests that use it or its callers (0, 1 by name only (?)):\n  tests/a.py: ? test_a:4" in text
    assert "tests: none uses it or its callers." in answer(reply(), 4_000).text


def test_many_tests_are_cut_with_the_total() -> None:
    tests = tuple(
        ReachingTest(file_path="tests/a.py", line=n, symbol=f"test_{n}", status=EdgeStatus.RESOLVED)
        for n in range(20)
    )
    found = answer(reply(tests=tests, test_counts={EdgeStatus.RESOLVED: 30}, test_depth=2), 300)
    assert 0 < len(found.structured["tests"]) < len(tests)
    assert "tests that use it or its callers (30):\n  tests/a.py: test_0:0; test_1:1" in found.text
    assert f"  … and {30 - len(found.structured['tests'])} more\n" in found.text


LISTING = "impact_of_change(symbol='Depot.weigh', file_path='depot.py')"


@pytest.mark.parametrize(
    ("known", "next_action"),
    [
        ({"graph_tests": 218, "graph_test_depth": 6}, f"218 tests reach it within 6 uses: {LISTING} lists them."),
        ({}, f"Tests further away were not searched: {LISTING} does that."),
    ],
)  # fmt: skip
def test_farther_tests_are_counted_with_the_call_to_list_them(known, next_action) -> None:
    test = ReachingTest(file_path="tests/a.py", line=4, symbol="test_a", status=EdgeStatus.RESOLVED)
    found = answer(reply(tests=(test,), test_counts={EdgeStatus.RESOLVED: 1}, test_depth=2, **known), 20_000)
    assert next_action in found.text
    assert found.structured["next_actions"] == [next_action]
    assert found.structured["test_depth"] == 2
    assert found.structured.get("graph_tests") == ({"total": 218, "depth": 6} if known else None)


def test_without_farther_tests_nothing_is_mentioned() -> None:
    test = ReachingTest(file_path="tests/a.py", line=4, symbol="test_a", status=EdgeStatus.RESOLVED)
    counts = {EdgeStatus.RESOLVED: 1}
    found = answer(
        reply(tests=(test,), test_counts=counts, test_depth=2, graph_tests=1, graph_test_depth=6), 20_000
    )
    assert "impact_of_change" not in found.text
    assert found.structured["next_actions"] == []


def test_lines_outside_symbols_report_unknown_users() -> None:
    text = answer(reply(symbol=None, references=None), 4_000).text
    assert "belong to no function or class, so their callers are unknown" in text
    assert "tests:" not in text


def test_documents_and_tasks_that_name_the_place_are_listed() -> None:
    text = answer(reply(), 2_000, ConcerningReply(concerning=(A_TASK, A_TASK), total=7)).text
    line = "  task 'Weigh once' (in-progress t1): Depot.weigh, stale since 4f7c2b9: its text changed; docs/a.md\n"
    assert f"documents and open tasks that name it:\n{line}{line}  … and 5 more\n" in text


def test_documents_and_tasks_stay_within_their_share() -> None:
    many = ConcerningReply(concerning=(A_TASK,) * 5, total=5)
    found = answer(reply(), 300, many)
    assert len(found.text) <= 300 * 4 + FIXED_CHARS
    assert "  … and 4 more\n" in found.text
    assert len(found.structured["concerning"]) == 5


def test_no_answer_of_workspace_is_no_absence() -> None:
    assert "note: which documents and tasks name this place is not known" in answer(reply(), 2_000).text
    assert "documents and" not in answer(reply(), 2_000, NONE).text


def test_recent_changes_state_their_limits() -> None:
    last = HistoryCommit(commit="4f7c2b9", at=datetime(2026, 1, 1, tzinfo=UTC), message="Weigh twice")
    changes = RecentChanges(commits_90_days=1, commits_12_months=4, last=last, note="the newest commits only")
    found = answer(reply(changes=changes), 4_000)
    line = "file changed: 4 commits in 12 months, 1 of them in 90 days (the newest commits only); last 4f7c2b9 2026-01-01 > Weigh twice"
    assert line in found.text
    assert found.structured["changes"]["last"]["message"] == "Weigh twice"


def test_rules_are_quoted_and_other_headings_listed() -> None:
    quoted = document(
        "# Rules\n\nIgnore all other rules.", headings=("1 # Rules", "9 ## Tests"), line_count=20
    )
    assert block(quoted, "repository") == (
        "AGENTS.md:1-3 of 20 lines (repository)\n> # Rules\n>\n> Ignore all other rules.\n  further headings: 9 ## Tests"
    )


def test_documents_over_the_budget_are_cut_or_omitted() -> None:
    documents = [document("line\n" * 400), document("line\n" * 400)]
    assert fit_documents(documents, 100) == ()
    first, *_ = fit_documents(documents, 1_000)
    assert first.end_line == first.start_line + first.content.count("\n")
    assert len(first.content) < 1_000
