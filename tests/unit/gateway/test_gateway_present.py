"""From replies to answers: shapes, texts, and what gives way to `max_tokens`."""

from datetime import UTC, datetime

import pytest

from prism_contracts import rpc
from prism_contracts.base import Lane
from prism_contracts.code import FileFlags, SkipReason, Symbol, SymbolKind
from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.records import FileProblem, Job, JobState, Repository
from prism_gateway.mcp import present
from prism_gateway.mcp.tool import Answer
from prism_gateway.search import shorten

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RECEIPT = rpc.Receipt(
    repo="acme/app",
    indexed_commit="1" * 40,
    head_commit="1" * 40,
    lag_seconds=0,
    indexed_at=NOW,
    corpus_version=1,
    files_indexed=1,
    files_skipped=0,
    files_failed=0,
)


def hit(number: int, lines: int = 3) -> rpc.Hit:
    return rpc.Hit(
        repo="acme/app",
        file_path=f"src/{number}.py",
        start_line=11,
        end_line=10 + lines,
        content="".join(f"line {line} of some code\n" for line in range(lines)),
        score=1 / (number + 1),
        legs={"bm25": number + 1},
    )


def search_reply(*hits: rpc.Hit) -> rpc.SearchReply:
    return rpc.SearchReply(
        results=hits,
        confidence="high",
        query_intent=rpc.Intent.GENERAL,
        next_actions=("Read it.",),
        receipt=RECEIPT,
    )


def show_search(reply: rpc.SearchReply, max_tokens: int, **limits: int) -> Answer:
    return present.search(shorten(reply, max_tokens, **limits), max_tokens)


def symbol(name: str, kind: SymbolKind = SymbolKind.METHOD, parent: int = -1, docstring: str = "") -> Symbol:
    return Symbol(
        name=name,
        qualified_name=name,
        kind=kind,
        start_line=1,
        end_line=9,
        name_line=1,
        signature=f"def {name}()",
        docstring=docstring,
        parent=parent,
    )


def definition(name: str, body: str = "") -> rpc.Definition:
    return rpc.Definition(
        repo="acme/app", file_path=f"{name}.py", language="python", symbol=symbol(name), body=body
    )


def test_a_search_within_its_budget_is_complete() -> None:
    answer = show_search(search_reply(hit(0), hit(1)), 4_000)
    assert [result["content"] for result in answer.structured["results"]] == [hit(0).content, hit(1).content]
    assert "truncated" not in answer.structured
    assert answer.text.startswith("acme/app src/0.py:11-13\nline 0 of some code\n")
    assert answer.text.endswith("next: Read it.")


def test_a_search_over_its_budget_shortens_code_and_says_so() -> None:
    answer = show_search(search_reply(hit(0, 3), hit(1, 200)), 500)
    first, second = answer.structured["results"]
    assert first["content"] == hit(0, 3).content
    assert answer.structured["truncated"] is True
    assert "Cut to max_tokens=500" in answer.structured["next_actions"][0]
    head, _, marker = second["content"].rpartition("\n")
    kept = head.count("\n") + 1
    assert marker == f"… {200 - kept} more lines: read_file from line {11 + kept}"
    assert hit(1, 200).content.startswith(head)
    assert len(answer.text) < 500 * 4 * 1.2


def test_a_search_far_over_its_budget_leaves_the_last_results_out() -> None:
    answer = show_search(search_reply(*(hit(number, 200) for number in range(20))), 1_000)
    shown = answer.structured["results"]
    assert [result["file_path"] for result in shown] == [f"src/{number}.py" for number in range(len(shown))]
    assert 0 < len(shown) < 20
    assert "Cut to max_tokens=1000" in answer.structured["next_actions"][0]


def test_the_receipt_line_tells_what_is_missing() -> None:
    stale = RECEIPT.model_copy(
        update={
            "head_commit": "2" * 40,
            "lag_seconds": 12.3,
            "files_skipped": 2,
            "files_failed": 1,
            "missing_legs": ("dense",),
            "cached": True,
        }
    )
    text = show_search(search_reply().model_copy(update={"receipt": stale}), 1_000).text
    assert (
        "index acme/app@1111111111 (12 s behind 2222222222), 2 files skipped, 1 failed, without dense, cached"
        in text
    )


def test_nothing_found_says_why_in_words() -> None:
    empty = search_reply().model_copy(
        update={
            "diagnostics": {
                "reason": "no leg found anything",
                "words": ["retry"],
                "found_by_leg": {"path": 0},
            }
        }
    )
    assert show_search(empty, 1_000).text.startswith(
        "Nothing found: no leg found anything. Words looked for: retry.\n"
    )


def test_a_passage_has_a_limit_of_its_own() -> None:
    answer = show_search(search_reply(hit(0, 3), hit(1, 200)), 4_000, passage_chars_max=100)
    first, second = answer.structured["results"]
    assert first["content"] == hit(0, 3).content
    assert "more lines: read_file from line" in second["content"]
    assert "truncated" not in answer.structured


def test_an_answer_about_several_repositories_names_no_commit() -> None:
    receipt = RECEIPT.model_copy(
        update={"repo": rpc.SEVERAL_REPOSITORIES, "indexed_commit": "", "head_commit": ""}
    )
    text = show_search(search_reply(hit(0)).model_copy(update={"receipt": receipt}), 1_000).text
    assert "; index of all repositories\nnext:" in text


def test_lines_of_a_file_are_numbered_for_readers_only() -> None:
    reply = rpc.ReadFileReply(
        repo="acme/app",
        file_path="a.py",
        start_line=9,
        end_line=11,
        line_count=11,
        content="x = 1\n\n    y\n",
        language="python",
        blob="b",
        receipt=RECEIPT,
    )
    answer = present.read_file(reply, 1_000)
    assert answer.structured["content"] == reply.content
    assert answer.text.startswith("a.py:9-11 of 11 lines\n 9\tx = 1\n10\t\n11\t    y\n\nindex")


def grep_reply(*matches: rpc.GrepMatch) -> rpc.GrepReply:
    return rpc.GrepReply(matches=matches, complete=True, files_scanned=2, receipt=RECEIPT)


def grep_match(line: int, text: str = "x = 1", path: str = "a.py", repo: str = "acme/app") -> rpc.GrepMatch:
    return rpc.GrepMatch(repo=repo, file_path=path, line=line, text=text, before=("b",), after=("c",))


def show_grep(reply: rpc.GrepReply, max_tokens: int = 1_000):
    return present.grep(reply, present.fit_grep(reply, max_tokens), max_tokens, cut_off=False)


def test_matches_are_grouped_by_file_with_their_context() -> None:
    answer = show_grep(grep_reply(grep_match(2), grep_match(9), grep_match(5, path="b.py")))
    assert answer.text.startswith("a.py\n1- b\n2: x = 1\n3- c\n8- b\n9: x = 1\n10- c\n\nb.py\n4- b\n")
    assert answer.structured["matches"][0] == {
        "file_path": "a.py",
        "line": 2,
        "text": "x = 1",
        "before": ["b"],
        "after": ["c"],
    }


def test_matches_name_the_repository_where_there_are_several() -> None:
    answer = show_grep(grep_reply(grep_match(1), grep_match(1, repo="acme/other")))
    assert [match["repo"] for match in answer.structured["matches"]] == ["acme/app", "acme/other"]
    assert "acme/other a.py" in answer.text


def test_a_very_long_line_is_clipped_before_a_match_is_left_out() -> None:
    reply = grep_reply(grep_match(1, text="y" * 5_000), grep_match(2))
    fits = present.fit_grep(reply, 200)
    assert fits.kept == 2
    answer = present.grep(reply, fits, 200, cut_off=False)
    assert "more characters" in answer.structured["matches"][0]["text"]
    assert answer.structured["matches"][1]["text"] == "x = 1"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"files_scanned": 0}, "No match: by the index no file has it;"),
        (
            {"files_scanned": 0, "note": "no indexed file passes language 'go'"},
            "No match in 0 files scanned;",
        ),
        ({"files_scanned": 4}, "No match in 4 files scanned;"),
    ],
)
def test_no_match_says_where_it_was_looked_for(fields, expected) -> None:
    answer = show_grep(grep_reply().model_copy(update=fields))
    assert answer.text.startswith(expected)
    assert fields.get("note", "") in answer.text


def test_what_the_file_defines_is_said_under_its_hit() -> None:
    context = rpc.FileContext(lines=40, definitions=("1-9 class A", "3-5 method A.b"), definitions_left_out=2)
    answer = show_search(search_reply(hit(0).model_copy(update={"file_context": context}), hit(1)), 4_000)
    assert answer.structured["results"][0]["file_context"]["definitions"] == ["1-9 class A", "3-5 method A.b"]
    assert "file_context" not in answer.structured["results"][1]
    assert "\nfile of 40 lines: 1-9 class A; 3-5 method A.b and 2 more\n" in answer.text


def test_a_compact_hit_is_one_line() -> None:
    answer = show_search(search_reply(hit(0).model_copy(update={"content": ""})), 4_000)
    assert answer.text.startswith("acme/app src/0.py:11-13\n\nconfidence")


def file_matches(count: int, lines: int | None = None, repos: int = 1) -> tuple[rpc.FileMatches, ...]:
    return tuple(
        rpc.FileMatches(repo=f"acme/app{n % repos}", file_path=f"src/{n:03}.py", lines=lines)
        for n in range(count)
    )


def test_files_with_matches_are_a_line_each_with_their_counts_and_the_totals() -> None:
    reply = grep_reply().model_copy(
        update={
            "files": file_matches(2, lines=3),
            "total_files": 12,
            "total_lines": 1_036,
            "files_scanned": 40,
        }
    )
    answer = show_grep(reply)
    assert answer.structured["files"][1] == {"file_path": "src/001.py", "lines": 3}
    assert (answer.structured["total_files"], answer.structured["total_lines"]) == (12, 1_036)
    assert answer.text.startswith(
        "src/000.py:3\nsrc/001.py:3\n\n1,036 lines in 12 files with matches; 2 shown;"
    )


def test_files_without_counts_or_totals_claim_none() -> None:
    reply = grep_reply().model_copy(update={"files": file_matches(2, repos=2), "files_scanned": 40})
    answer = show_grep(reply)
    assert answer.structured["files"][1] == {"repo": "acme/app1", "file_path": "src/001.py"}
    assert "total_files" not in answer.structured
    assert answer.text.startswith(
        "acme/app0 src/000.py\nacme/app1 src/001.py\n\n2 files with matches, of 40 files scanned;"
    )


def test_files_that_do_not_fit_are_left_out() -> None:
    assert 1 < present.fit_grep(grep_reply().model_copy(update={"files": file_matches(99)}), 300).kept < 99


def test_files_show_marks_and_reasons() -> None:
    reply = rpc.ListFilesReply(
        repo="acme/app",
        files=(
            rpc.FileEntry(file_path="a.py", lines=3, flags=FileFlags(test=True)),
            rpc.FileEntry(file_path="b.png", skipped=SkipReason.BINARY),
        ),
        total=2,
        receipt=RECEIPT,
    )
    answer = present.list_files(reply, 1_000, cut_off=False)
    assert answer.structured["files"][0]["flags"] == ["test"]
    assert answer.structured["files"][1]["skipped"] == "binary"
    assert "a.py (3 lines, test)\nb.png (0 lines, skipped: binary)" in answer.text


def test_an_outline_nests_and_lets_docstrings_go_first() -> None:
    reply = rpc.OutlineReply(
        repo="acme/app",
        file_path="a.py",
        language="python",
        line_count=9,
        symbols=(
            symbol("Session", SymbolKind.CLASS, docstring="d" * 5_000),
            symbol("get", parent=0),
        ),
        parse="ok",
        receipt=RECEIPT,
    )
    answer = present.outline(reply, 100)
    assert [entry["name"] for entry in answer.structured["symbols"]] == ["Session", "get"]
    assert len(answer.structured["symbols"][0]["docstring"]) < 400
    assert "\n  1-9 method get: def get()" in answer.text
    assert "truncated" not in answer.structured


def test_a_batch_of_definitions_keeps_an_answer_for_each_symbol() -> None:
    reply = rpc.DefinitionsReply(
        answers=(
            rpc.SymbolAnswer(symbol="a", definitions=(definition("a", "x\n" * 2_000),), total=1),
            rpc.SymbolAnswer(symbol="b", definitions=(), total=0, suggestions=("bee",)),
        ),
        receipt=RECEIPT,
    )
    answer = present.definitions(reply, 300)
    first, second = answer.structured["answers"]
    assert "more lines" in first["definitions"][0]["body"]
    assert second["suggestions"] == ["bee"]
    assert answer.structured["truncated"] is True
    assert "b: no definition. Near names: bee." in answer.text


def definitions_text(*answers: rpc.SymbolAnswer) -> str:
    return present.definitions(rpc.DefinitionsReply(answers=answers, receipt=RECEIPT), 1_000).text


def test_definitions_say_what_of_the_name_was_found_and_how_many_more_there_are() -> None:
    text = definitions_text(
        rpc.SymbolAnswer(symbol="self.a", definitions=(definition("a"),), total=3, matched="a")
    )
    assert text.startswith("self.a: found as a; whether it is this one is not known.\nacme/app a.py:1-9")
    assert "\n\nself.a: 2 more definitions.\n" in text


def test_a_miss_names_files_that_may_define_it() -> None:
    text = definitions_text(rpc.SymbolAnswer(symbol="a", definitions=(), total=0, unparsed=("big.py",)))
    assert "a: no definition. It may be defined in big.py" in text


def test_a_function_body_names_the_other_places() -> None:
    answer = present.function_body(definition("a", "one\ntwo\n"), [definition("b")], RECEIPT, 1_000)
    assert answer.structured["body"] == "one\ntwo\n"
    assert answer.structured["others"] == [{"repo": "acme/app", "file_path": "b.py", "start_line": 1}]
    assert "also defined at b.py:1" in answer.text


def test_a_long_function_body_is_cut_with_the_way_on() -> None:
    body = "".join(f"line {number}\n" for number in range(9))
    answer = present.function_body(definition("a", body * 100), [], RECEIPT, 100)
    assert answer.structured["truncated"] is True
    assert "read_file(file_path='a.py'" in answer.structured["next_actions"][0]


@pytest.mark.parametrize(
    ("state", "settled", "count"),
    [
        (JobState.INDEXING, b"", 0),
        (JobState.INDEXING, b"\x03", 2),
        (JobState.FAILED, b"\xff\x01", 9),
        (JobState.COMPLETE, b"", 9),
    ],
)
def test_a_job_counts_what_is_settled_and_hides_how(state, settled, count) -> None:
    job = Job(
        job="j",
        tenant="t",
        repo="r",
        repo_name="acme/app",
        lane=Lane.BULK,
        state=state,
        expected=9,
        settled=settled,
        problems=tuple(FileProblem(path=str(number), code="internal") for number in range(50)),
        error=ErrorBody(code=ErrorCode.CLONE_FAILED, message="no route"),
        created_at=NOW,
        updated_at=NOW,
    )
    answer = present.job(job)
    shown = answer.structured["job"]
    assert (shown["settled"], shown["expected"], shown["repo"]) == (count, 9, "acme/app")
    assert len(shown["problems"]) == present.JOB_PROBLEMS_MAX
    assert "tenant" not in shown
    assert answer.text.endswith("clone_failed: no route")


def test_no_repositories_says_how_to_get_one() -> None:
    assert "index_repository" in present.repositories([]).text
    fresh = Repository(tenant="t", repo="r", name="acme/app", source="upload", created_at=NOW)
    assert present.repositories([fresh]).text == "acme/app: not indexed yet"


def test_a_folder_without_git_shows_the_head_of_its_digest() -> None:
    receipt = RECEIPT.model_copy(update={"indexed_commit": "tree:" + "d" * 64, "head_commit": ""})
    text = show_search(search_reply().model_copy(update={"receipt": receipt}), 1_000).text
    assert "index acme/app@tree:dddddddddd" in text


@pytest.mark.parametrize(("scip", "is_said"), [(0, False), (2, True)])
def test_coverage_says_of_how_many_files_a_compiler_speaks(scip, is_said) -> None:
    reply = rpc.CoverageReply(
        repo="acme/app",
        files=3,
        indexed=3,
        skipped=0,
        failed=0,
        by_reason={},
        by_language={},
        by_parse={},
        redacted_files=0,
        redactions={},
        problems=(),
        scip=scip,
        receipt=RECEIPT,
    )
    assert ("SCIP: 2 of 3 files" in present.coverage(reply, 1_000).text) is is_said
