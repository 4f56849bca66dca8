"""References as text: what the counts cover."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolKind
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.symbols import (
    Definition,
    HelpedTests,
    ImportSource,
    OverloadChoice,
    PlacedSymbol,
    Reconciliation,
    ReferenceEntry,
    ReferenceGroup,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
    TextLine,
)
from prism_gateway.mcp.answers import reference_bodies, references

WEIGH = Symbol(
    name="weigh", qualified_name="weigh", kind=SymbolKind.FUNCTION, start_line=1, end_line=2, name_line=1, signature="def weigh()"
)  # fmt: skip
DEFINITION = Definition(repo="acme/app", file_path="scale.py", language="python", symbol=WEIGH)
CALL = ReferenceEntry(
    repo="acme/app", file_path="app/depot.py", line=4, symbol="run", group=ReferenceGroup.CALLERS,
    edge=EdgeKind.CALLS, status=EdgeStatus.RESOLVED, strategy=Strategy.IMPORT, text="weigh(1)",
)  # fmt: skip
ACCOUNT = Reconciliation(
    resolved=7,
    candidates=1,
    elsewhere=2,
    text_lines=10,
    unexplained=0,
    files=3,
    prose_lines=5,
    prose_files=2,
    lines_by_group={ReferenceGroup.CALLERS: 7},
    definition_lines=1,
    other_lines=2,
)


def rendered(entries: tuple[ReferenceEntry, ...] = (CALL,), told: Reconciliation = ACCOUNT, **asked: object):
    found = SymbolReferences(
        symbol="weigh",
        definitions=(DEFINITION,),
        total_definitions=1,
        entries=entries,
        counts={ReferenceGroup.CALLERS: 3} if entries else {},
        reconciliation=told,
    )
    request = ReferencesRequest(tenant="t", symbols=("weigh",), **asked)
    answer = references.answer(ReferencesReply(answers=(found,), receipt=RECEIPT), request)
    return answer.structured["answers"][0], answer.text.splitlines()


def test_lines_of_prose_are_counted_separately() -> None:
    structured, lines = rendered()
    assert "in prose, such as Markdown: 5 lines in 2 files" in lines
    assert structured["reconciliation"].items() >= {"files": 3, "prose_lines": 5, "prose_files": 2}.items()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"path_filter": "app/**"}, "in app/**"),
        ({"reference_type": EdgeKind.CALLS}, "calls only"),
        ({"source_only": True, "path_filter": "app/**"}, "in app/**, without tests"),
        ({"include_candidates": False}, "without those by name only"),
    ],
)
def test_counts_state_whether_they_are_filtered(asked, words) -> None:
    structured, lines = rendered(**asked)
    assert structured["filter"] == asked
    at = lines.index(f"1 call, {words}:")
    assert any("7 calls" in line and "2 another weigh" in line for line in lines[at + 1 :])


def test_lines_outside_of_the_filter_are_counted() -> None:
    told = ACCOUNT.model_copy(update={"outside_lines": 4})
    assert "; 4 lines outside the filter." in "\n".join(rendered(told=told, path_filter="app/**")[1])


def test_overloads_that_call_are_counted_apart() -> None:
    calls = [
        CALL.model_copy(
            update={
                "line": line,
                "symbol": "Till.pay",
                "enclosing": EnclosingSymbol(name="Till.pay", start_line=start, end_line=start + 9),
            }
        )
        for line, start in ((12, 10), (14, 10), (22, 20))
    ]
    found = SymbolReferences(
        symbol="weigh",
        definitions=(DEFINITION,),
        total_definitions=1,
        entries=tuple(calls),
        reconciliation=Reconciliation(
            resolved=3, candidates=0, elsewhere=0, text_lines=3, unexplained=0, files=1,
            lines_by_group={ReferenceGroup.CALLERS: 3},
        ),
    )  # fmt: skip
    assert "3 calls in 2 functions:" in list(references.group_lines(found))


LINE = TextLine(repo="acme/app", file_path="b.py", line=3, text="scale.weigh()")


def completeness(**counts: object) -> str:
    known = {
        "resolved": 7,
        "candidates": 0,
        "elsewhere": 0,
        "text_lines": 8,
        "unexplained": 0,
        "files": 3,
    } | counts
    found = SymbolReferences(
        symbol="weigh",
        definitions=(DEFINITION,),
        total_definitions=1,
        entries=(CALL,),
        reconciliation=Reconciliation(**known),
    )
    return list(references.group_lines(found))[-1]


def test_a_list_that_accounts_for_every_line_is_complete() -> None:
    groups = {ReferenceGroup.CALLERS: 6, ReferenceGroup.IMPORTS: 1}
    counts = {"definition_lines": 1, "other_lines": 2, "mentions": 1, "alias_lines": 3}
    assert completeness(lines_by_group=groups, text_lines=11, **counts) == (
        "Complete: all 11 lines of code in 3 files that contain weigh are accounted for: 6 calls, 1 import, "
        "1 definition, 2 another weigh (page=other lists them), 1 in comments, strings or data. "
        "3 more lines use it without its name."
    )


@pytest.mark.parametrize(
    ("counts", "lack"),
    [
        ({"candidate_lines": 2}, "2 uncertain lines (?)"),
        (
            {"unexplained": 1, "unexplained_lines": (LINE,)},
            "1 line of code could not be resolved (listed above)",
        ),
        (
            {"unexplained": 1},
            "1 line of code could not be resolved (find_references with page=unresolved lists them)",
        ),
        ({"files_left_out": 3}, "3 files that may contain it were not read"),
    ],
)
def test_an_incomplete_list_names_what_it_lacks(counts, lack) -> None:
    assert completeness(**counts).startswith(f"Not complete: {lack}")


@pytest.mark.parametrize(
    ("counts", "says_so"),
    [
        ({"unexplained": 1, "unexplained_lines": (LINE,)}, True),
        ({"unexplained": 2, "unexplained_lines": (LINE,)}, False),
        ({"candidate_lines": 2}, False),
        ({"unexplained": 1, "unexplained_lines": (LINE,), "files_left_out": 1}, False),
        ({"unexplained": 1, "unexplained_lines": (LINE,), "outside_lines": 2}, False),
        (
            {"unexplained": 1, "unexplained_lines": (LINE,), "lines_by_group": {ReferenceGroup.CALLERS: 9}},
            False,
        ),
    ],
)
def test_a_list_with_every_uncertain_line_says_that_a_search_finds_nothing_else(counts, says_so) -> None:
    assert ("A text search finds nothing else: 8 lines of code" in completeness(**counts)) is says_so


def test_references_are_grouped_by_file_and_enclosing_symbol() -> None:
    around = EnclosingSymbol(name="run", kind="function", start_line=2, end_line=9)
    first = CALL.model_copy(update={"enclosing": around})
    second = first.model_copy(update={"line": 7, "text": "weigh(2)"})
    _, lines = rendered((first, second))
    at = lines.index("2 calls:")
    assert lines[at + 1 : at + 5] == [
        "  app/depot.py",
        "    run (2-9)",
        "      4: weigh(1)",
        "      7: weigh(2)",
    ]


def test_the_same_line_of_two_repositories_is_shown_twice() -> None:
    _, lines = rendered((CALL, CALL.model_copy(update={"repo": "acme/other", "text": "weigh(3)"})))
    at = lines.index("2 calls:")
    assert lines[at + 1 : at + 5] == [
        "  acme/app app/depot.py",
        "    run 4: weigh(1)",
        "  acme/other app/depot.py",
        "    run 4: weigh(3)",
    ]


def test_an_empty_filtered_result_is_stated() -> None:
    _, lines = rendered((), path_filter="app/**")
    assert lines[1] == "none in app/**"


def test_without_a_filter_none_is_mentioned() -> None:
    structured, lines = rendered()
    assert "filter" not in structured
    assert "1 call:" in lines
    assert not any(line.startswith("Of all") for line in lines)


def test_imports_are_on_one_line_and_candidates_last() -> None:
    imports = [
        CALL.model_copy(update={"group": ReferenceGroup.IMPORTS, "file_path": path, "line": line})
        for path, line in (("a.py", 1), ("a.py", 3), ("b.py", 2))
    ]
    unsure = CALL.model_copy(update={"line": 9, "status": EdgeStatus.CANDIDATE})
    _, lines = rendered((CALL, *imports, unsure))
    assert "3 imports: a.py:1/3, b.py:2" in lines
    assert lines.index("by name only (?), another symbol may be meant:") > lines.index(
        "3 imports: a.py:1/3, b.py:2"
    )


def test_other_lines_are_listed_if_they_are_in_the_answer() -> None:
    text = ACCOUNT.model_copy(update={"other": (LINE,), "other_lines": 1})
    found = SymbolReferences(
        symbol="weigh", definitions=(DEFINITION,), total_definitions=1, reconciliation=text
    )
    lines = list(references.group_lines(found))
    assert lines[:3] == ["another symbol of the name (1):", "  b.py", "    3: scale.weigh()"]
    assert "page=other" not in lines[-1]


def test_a_line_stands_in_the_first_of_its_groups() -> None:
    as_type = CALL.model_copy(update={"group": ReferenceGroup.TYPES})
    unsure = CALL.model_copy(update={"status": EdgeStatus.CANDIDATE})
    _, lines = rendered((CALL, as_type, unsure))
    assert sum("weigh(1)" in line for line in lines) == 1
    assert "1 type use:" not in lines


RUN = EnclosingSymbol(name="run", kind="function", start_line=3, end_line=5)
INSIDE = CALL.model_copy(update={"enclosing": RUN})
BODY = "def run():\n    weigh(1)\n    rest()\n"


def with_bodies(entries: tuple[ReferenceEntry, ...], text: str = BODY, max_tokens: int = 2_000):
    found = SymbolReferences(
        symbol="weigh",
        definitions=(DEFINITION,),
        total_definitions=1,
        entries=entries,
        reconciliation=ACCOUNT,
    )
    reply = ReferencesReply(answers=(found, found), receipt=RECEIPT)
    request = ReferencesRequest(tenant="t", symbols=("weigh",))
    texts = dict.fromkeys(reference_bodies.body_uses(reply), text)
    answer = references.answer(reply, request, texts, max_tokens)
    return answer.structured["bodies"], answer.text.splitlines()


def test_the_body_around_a_use_is_shown_once() -> None:
    as_type = INSIDE.model_copy(update={"line": 5, "group": ReferenceGroup.TYPES, "text": "rest()"})
    bodies, lines = with_bodies((INSIDE, as_type))
    at = lines.index("    run (3-5)")
    assert lines[at + 1 : at + 4] == ["      3- def run():", "      4:     weigh(1)", "      5-     rest()"]
    assert lines.count("      3- def run():") == 1
    assert "    run (3-5) 5: rest()" in lines
    shown = {"3": "def run():", "4": "    weigh(1)", "5": "    rest()"}
    assert bodies == [
        {"repo": "acme/app", "file_path": "app/depot.py", "start_line": 3, "end_line": 5, "lines": shown}
    ]


@pytest.mark.parametrize(
    "update",
    [
        {"status": EdgeStatus.CANDIDATE},
        {"group": ReferenceGroup.IMPORTS},
        {"enclosing": None},
    ],
)
def test_only_sure_uses_in_a_known_function_have_bodies(update) -> None:
    bodies, _ = with_bodies((INSIDE.model_copy(update=update),))
    assert not bodies


def test_tests_have_bodies_where_nothing_else_is_listed() -> None:
    test = INSIDE.model_copy(update={"group": ReferenceGroup.TESTS, "file_path": "tests/test_depot.py"})
    bodies, lines = with_bodies((test,) * (references.ONLY_TESTS_WITH_TEXT_MAX + 1))
    assert [one["file_path"] for one in bodies] == ["tests/test_depot.py"]
    assert "      4:     weigh(1)" in lines
    bodies, _ = with_bodies((INSIDE, test))
    assert [one["file_path"] for one in bodies] == [INSIDE.file_path]


def test_bodies_beyond_the_budget_are_counted() -> None:
    bodies, lines = with_bodies((INSIDE,), max_tokens=100)
    assert not bodies
    assert "    run (3-5) 4: weigh(1)" in lines
    assert "1 body did not fit: a higher max_tokens shows more." in lines


def test_a_long_body_is_cut_to_the_lines_around_its_uses() -> None:
    long = CALL.model_copy(
        update={"line": 40, "enclosing": RUN.model_copy(update={"start_line": 1, "end_line": 90})}
    )
    text = "\n".join(f"line {number}" for number in range(1, 91))
    bodies, lines = with_bodies((long,), text)
    assert list(bodies[0]["lines"]) == [str(number) for number in range(34, 47)]
    assert "      40: line 40" in lines


def test_many_tests_are_rows_by_file() -> None:
    around = EnclosingSymbol(name="test_run", kind="function", start_line=2, end_line=40)
    tests = [
        CALL.model_copy(
            update={"group": ReferenceGroup.TESTS, "line": line, "file_path": file, "enclosing": around}
        )
        for file, count in (("tests/a.py", 9), ("tests/b.py", 2))
        for line in range(3, 3 + count)
    ]
    _, lines = rendered((CALL, *tests))
    at = lines.index("11 test lines:")
    assert lines[at + 1 : at + 3] == [
        "  tests/a.py: test_run (2-40) 3/4/5/6/7/8/9/10/11",
        "  tests/b.py: test_run (2-40) 3/4",
    ]
    for shown in ((CALL, *tests[:10]), tests):  # few, and nothing else
        _, lines = rendered(tuple(shown))
        assert "    test_run (2-40)" in lines


def test_tests_behind_a_fixture_are_listed() -> None:
    def placed(file: str, name: str, start: int) -> PlacedSymbol:
        return PlacedSymbol(
            file_path=file, symbol=EnclosingSymbol(name=name, start_line=start, end_line=start + 2)
        )

    helped = HelpedTests(
        helper=placed("tests/conftest.py", "depot", 3),
        tests=(placed("tests/conftest.py", "test_a", 9), placed("tests/test_b.py", "test_b", 1)),
        total=5,
    )
    found = SymbolReferences(
        symbol="weigh", definitions=(DEFINITION,), total_definitions=1, entries=(CALL,), helped=(helped,)
    )
    lines = references.answer(
        ReferencesReply(answers=(found,), receipt=RECEIPT), ReferencesRequest(tenant="t", symbols=("weigh",))
    ).text.split("\n")
    at = lines.index("tests that run it through a fixture, a hook or a helper:")
    assert (
        lines[at + 1]
        == "  tests/conftest.py depot (3-5): test_a (9-11), tests/test_b.py test_b (1-3), … 3 more"
    )


def test_lines_of_tests_by_name_only_have_their_text() -> None:
    around = EnclosingSymbol(name="test_run", kind="function", start_line=2, end_line=40)
    unsure = {"group": ReferenceGroup.TESTS, "status": EdgeStatus.CANDIDATE, "enclosing": around}
    tests = [
        CALL.model_copy(update={**unsure, "line": line, "file_path": "tests/a.py"}) for line in range(3, 26)
    ]
    _, lines = rendered((*tests,))
    at = lines.index("23 test lines:")
    assert lines[at + 1 : at + 4] == ["  tests/a.py", "    test_run (2-40)", "      3: weigh(1)"]
    assert lines[at + 22 : at + 24] == ["      22: weigh(1)", "  tests/a.py: test_run (2-40) 23/24/25"]


def test_lines_by_name_only_of_further_pages_are_announced() -> None:
    found = SymbolReferences(
        symbol="weigh", definitions=(DEFINITION,), total_definitions=1, entries=(CALL,), next_cursor="c",
        reconciliation=ACCOUNT.model_copy(update={"candidate_lines": 3}),
    )  # fmt: skip
    assert (
        "Not complete: 3 uncertain lines (?), on the last pages." in list(references.group_lines(found))[-1]
    )


def test_unresolved_lines_of_tests_are_apart() -> None:
    test = LINE.model_copy(update={"test": True, "file_path": "tests/b.py", "enclosing": RUN})
    text = ACCOUNT.model_copy(update={"unexplained": 3, "unexplained_lines": (LINE, test)})
    found = SymbolReferences(
        symbol="weigh", definitions=(DEFINITION,), total_definitions=1, reconciliation=text
    )
    lines = list(references.group_lines(found))
    assert lines[:6] == [
        "code that contains the name and was not resolved (2 of 3):",
        "  b.py",
        "    3: scale.weigh()",
        " in tests:",
        "  tests/b.py",
        "    run (3-5) 3: scale.weigh()",
    ]


@pytest.mark.parametrize(("kept", "total"), [("", "40 calls"), ("in app/**", "60 calls, in app/**")])
def test_a_cut_group_names_its_total(kept, total) -> None:
    text = ACCOUNT.model_copy(update={"lines_by_group": {ReferenceGroup.CALLERS: 40}})
    found = SymbolReferences(
        symbol="weigh", definitions=(DEFINITION,), total_definitions=1, entries=(CALL,),
        counts={ReferenceGroup.CALLERS: 60}, reconciliation=text, next_cursor="next",
    )  # fmt: skip
    assert f"1 of {total}:" in list(references.group_lines(found, kept))


@pytest.mark.parametrize(
    ("tests", "told"),
    [
        (4, "4 lines outside the filter, in tests"),
        (1, "4 lines outside the filter, 1 of them in tests"),
        (0, "4 lines outside the filter."),
    ],
)
def test_lines_outside_of_the_filter_are_placed(tests, told) -> None:
    text = ACCOUNT.model_copy(update={"outside_lines": 4, "outside_test_lines": tests})
    found = SymbolReferences(
        symbol="weigh", definitions=(DEFINITION,), total_definitions=1, reconciliation=text
    )
    assert f"; {told}" in list(references.group_lines(found))[-1]


def test_references_of_one_type_count_lines_of_comments() -> None:
    told = ACCOUNT.model_copy(update={"mentions": 1, "mention_lines": (LINE,)})
    _, every = rendered(told=told)
    _, calls = rendered(told=told, reference_type=EdgeKind.CALLS)
    assert any(line.startswith("in comments, strings and data (") for line in every)
    assert not any(line.startswith("in comments, strings and data (") for line in calls)
    assert any("1 in comments, strings or data" in line for line in calls)


def test_a_use_in_a_local_function_shows_the_function_around_it() -> None:
    outer = EnclosingSymbol(name="Depot.open", start_line=3, end_line=20)
    inner = EnclosingSymbol(name="Depot.open.check", start_line=5, end_line=8, outer=outer)
    structured, lines = rendered((CALL.model_copy(update={"line": 6, "enclosing": inner}),))
    assert "    Depot.open (3-20) \u203a check (5-8) 6: weigh(1)" in lines
    entry = structured["groups"]["callers"][0]
    assert (entry["symbol_lines"], entry["outer"], entry["outer_lines"]) == ([5, 8], "Depot.open", [3, 20])


@pytest.mark.parametrize(
    ("signature", "is_anonymous"),
    [
        ("module.exports = (stream)", True),
        ("module.exports = async function (one)", True),
        ("export default () => 1", True),
        ("module.exports = function weigh(one)", False),
        ("function weigh(one)", False),
    ],
)
def test_an_anonymous_export_is_marked(signature, is_anonymous) -> None:
    symbol = WEIGH.model_copy(update={"signature": signature})
    found = SymbolReferences(
        symbol="weigh", definitions=(DEFINITION.model_copy(update={"symbol": symbol}),), total_definitions=1
    )
    asked = ReferencesRequest(tenant="t", symbols=("weigh",))
    answer = references.answer(ReferencesReply(answers=(found,), receipt=RECEIPT), asked)
    assert (
        answer.text.splitlines()[0]
        == f"weigh (function{', anonymous export' if is_anonymous else ''}) scale.py:1-2"
    )


def overloads_text(overload: OverloadChoice | None, *parameters: str) -> str:
    definitions = tuple(
        DEFINITION.model_copy(
            update={"parameters": f"({one})", "symbol": WEIGH.model_copy(update={"name_line": line})}
        )
        for line, one in enumerate(parameters, 3)
    )
    calls = [
        CALL.model_copy(update={"line": 7, "reaches": ("scale.py:4",)}),
        CALL.model_copy(update={"line": 8}),
        CALL.model_copy(update={"line": 9, "status": EdgeStatus.CANDIDATE, "strategy": Strategy.OVERLOAD}),
    ]
    found = SymbolReferences(
        symbol="weigh",
        definitions=definitions,
        total_definitions=2,
        entries=tuple(calls),
        counts={ReferenceGroup.CALLERS: 3},
        reconciliation=ACCOUNT.model_copy(update={"candidate_lines": 1}),
        overload=overload,
    )
    asked = ReferencesRequest(tenant="t", symbols=("weigh",))
    return references.answer(ReferencesReply(answers=(found,), receipt=RECEIPT), asked).text


def test_each_use_names_the_overload_that_it_calls() -> None:
    text = overloads_text(None, "String", "int")
    assert "#1 weigh(String) (function) scale.py:1-2\n#2 weigh(int) (function) scale.py:1-2\n" in text
    assert "7: weigh(1) #2\n" in text
    assert "8: weigh(1)\n" in text


def test_uses_of_one_overload_are_listed_alone() -> None:
    text = overloads_text(OverloadChoice(total=3), "int")
    assert text.startswith("weigh(int) (function) scale.py:1-2\n1 of 3 overloads: ")
    assert "of this overload or another one (?):\n1 call:\n" in text
    assert "Not complete: 1 line of this overload or another one (?)" in text
    assert "by name only" not in text


def test_parameters_that_no_overload_has_are_named() -> None:
    text = overloads_text(OverloadChoice(total=2, parameters="(Gate)"), "String", "int")
    assert "None of the 2 overloads has the parameters (Gate): these are the uses of all." in text


def test_uses_in_other_repositories_are_counted() -> None:
    found = SymbolReferences(
        symbol="weigh",
        definitions=(DEFINITION,),
        total_definitions=1,
        other_repositories={"acme/shop": 2},
        unread_repositories={"acme/web": 14},
    )
    request = ReferencesRequest(tenant="t", symbols=("weigh",))
    answer = references.answer(ReferencesReply(answers=(found,), receipt=RECEIPT), request)
    assert (
        "Other repositories import it: acme/shop (2 lines), acme/web (14 files to look at). "
        "Without repo, the answer lists their lines."
    ) in answer.text.splitlines()
    assert answer.structured["answers"][0]["other_repositories"] == {"acme/shop": 2}


def test_an_undefined_name_has_the_module_that_it_comes_from() -> None:
    found = SymbolReferences(
        symbol="weigh",
        definitions=(),
        total_definitions=0,
        suggestions=("weight",),
        imported_from=(ImportSource(module="scales", files=2),),
        defined_elsewhere=(DEFINITION,),
    )
    request = ReferencesRequest(tenant="t", symbols=("weigh",))
    answer = references.answer(ReferencesReply(answers=(found,), receipt=RECEIPT), request)
    assert answer.text.splitlines()[:2] == [
        "weigh: not defined in this repository. Imported from scales (2 files).",
        "weigh (function) acme/app scale.py:1-2",
    ]


def test_calls_of_an_overridden_member_are_told_apart_from_names() -> None:
    above = CALL.model_copy(update={"status": EdgeStatus.CANDIDATE, "strategy": Strategy.OVERRIDDEN})
    told = ACCOUNT.model_copy(update={"candidate_lines": 1})
    _, lines = rendered((above,), told)
    assert "calls of a member that it overrides (?), another one may run:" in lines
    assert any(
        line.startswith("Not complete: 1 line through a member that it overrides (?)") for line in lines
    )


@pytest.mark.parametrize(
    ("strategies", "lines", "words"),
    [
        ([Strategy.NAME], 1, "by name only"),
        ([Strategy.STORED], 1, "through a field in which it is stored"),
        ([Strategy.NAME, Strategy.OVERRIDDEN], 2, "by name only or through a member that it overrides"),
        ([Strategy.OVERLOAD, Strategy.NAME], 2, "of this overload or another one or by name only"),
        ([Strategy.OVERRIDDEN], 3, ""),  # others are on further pages
        ([], 3, ""),
    ],
)
def test_words_for_uncertain_lines_fit_all_of_them(strategies, lines, words) -> None:
    entries = tuple(
        CALL.model_copy(update={"line": 4 + n, "status": EdgeStatus.CANDIDATE, "strategy": one})
        for n, one in enumerate(strategies)
    )
    _, text = rendered(entries, ACCOUNT.model_copy(update={"candidate_lines": lines}))
    counted = f"{lines} line{'s' if lines > 1 else ''} {words}" if words else f"{lines} uncertain lines"
    assert any(one.startswith(f"Not complete: {counted} (?)") for one in text)
    assert any(f", {lines} {words or 'uncertain'}, " in one for one in text)


def test_helpers_that_are_not_listed_are_counted() -> None:
    helper = PlacedSymbol(file_path="tests/conftest.py", symbol=EnclosingSymbol(name="scale"))
    found = SymbolReferences(
        symbol="weigh",
        definitions=(DEFINITION,),
        total_definitions=1,
        helped=(HelpedTests(helper=helper, tests=(helper,), total=1),),
        helped_left_out=2,
    )
    assert "  … and 2 more helpers that tests run: narrow with path_filter" in references.group_lines(found)


def test_line_in_a_form_of_its_own_says_which() -> None:
    line = TextLine(repo="acme/app", file_path="a.py", line=2, text="run(weigh=1)", form="not a method")
    _, lines = rendered((CALL,), ACCOUNT.model_copy(update={"other": (line,), "other_lines": 1}))
    assert "    2: run(weigh=1) (not a method)" in lines
