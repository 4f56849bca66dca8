"""Matches, and files with matches, within a budget."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.search import FileMatches, GrepMatch, GrepReply
from prism_gateway.mcp.answers import matches
from prism_gateway.mcp.tool import Answer


def grep_reply(*found: GrepMatch) -> GrepReply:
    return GrepReply(matches=found, complete=True, files_scanned=2, receipt=RECEIPT)


def grep_match(line: int, text: str = "x = 1", path: str = "a.py", repo: str = "acme/app") -> GrepMatch:
    return GrepMatch(repo=repo, file_path=path, line=line, text=text, before=("b",), after=("c",))


def show_grep(reply: GrepReply, max_tokens: int = 1_000) -> Answer:
    return matches.grep(reply, max_tokens, cut_off=False)


def test_matches_are_grouped_by_file_with_their_context() -> None:
    answer = show_grep(grep_reply(grep_match(2), grep_match(9), grep_match(5, path="b.py")))
    assert answer.text.startswith(
        "a.py\n  1- b\n  2: x = 1\n  3- c\n  8- b\n  9: x = 1\n  10- c\n\nb.py\n  4- b\n"
    )
    assert answer.structured["matches"][0] == {
        "file_path": "a.py",
        "line": 2,
        "text": "x = 1",
        "before": ["b"],
        "after": ["c"],
    }


GET = EnclosingSymbol(name="Session.get", kind="method", start_line=10, end_line=30)
TOP_LEVEL = EnclosingSymbol(name="")


def test_matches_are_grouped_by_enclosing_symbol() -> None:
    found = [
        bare_match(2, TOP_LEVEL),
        bare_match(12, GET),
        bare_match(20, GET),
    ]
    answer = show_grep(grep_reply(*found))
    assert answer.text.startswith(
        "a.py\n  top level 2: x = 1\n  Session.get (10-30)\n    12: x = 1\n    20: x = 1\n\n3 matches in 1 file; index"
    )
    assert [match.get("symbol") for match in answer.structured["matches"]] == [
        None,
        "Session.get",
        "Session.get",
    ]


def test_neighbors_of_close_matches_are_shown_once() -> None:
    answer = show_grep(grep_reply(grep_match(2), grep_match(3)))
    assert answer.text.startswith("a.py\n  1- b\n  2: x = 1\n  3: x = 1\n  4- c\n\n")


def test_a_neighbor_in_another_symbol_is_shown_once() -> None:
    found = [
        grep_match(12).model_copy(update={"enclosing": TOP_LEVEL}),
        grep_match(14).model_copy(update={"enclosing": GET}),
        grep_match(15).model_copy(update={"enclosing": TOP_LEVEL, "before": ("x = 1",)}),
    ]
    numbers = [line.split()[-4 if "x = 1" in line else -2] for line in show_grep(grep_reply(*found)).text.split("\n\n")[0].split("\n") if "- " in line or ": " in line]  # fmt: skip
    assert numbers == ["11-", "12:", "13-", "14:", "15:", "16-"]


def test_indentation_is_left_out_without_neighbors() -> None:
    match = bare_match(12, GET).model_copy(update={"text": "        x = 1"})
    assert "Session.get (10-30) 12: x = 1" in show_grep(grep_reply(match)).text


def test_the_rest_is_summed_up_by_file() -> None:
    reply = grep_reply(bare_match(2, GET)).model_copy(
        update={
            "total_lines": 9,
            "total_files": 3,
            "rest": (*file_matches(1, lines=2), FileMatches(repo="acme/app", file_path="b.py", lines=6)),
            "next_cursor": "more",
            "note": matches.MORE,
        }
    )
    answer = show_grep(reply)
    assert answer.structured["note"] == matches.MORE
    assert "note:" not in answer.text
    assert "further matches by file: b.py 6, src/000.py 2\n1 of 9 matches in 3 files;" in answer.text
    assert answer.structured["rest"][0] == {"file_path": "src/000.py", "lines": 2}


def test_all_matches_are_counted_as_all() -> None:
    reply = grep_reply(bare_match(2, GET)).model_copy(update={"total_lines": 1, "total_files": 1})
    assert "\n\nAll 1 match in 1 file;" in show_grep(reply).text


def bare_match(line: int, enclosing: EnclosingSymbol) -> GrepMatch:
    return GrepMatch(repo="acme/app", file_path="a.py", line=line, text="x = 1", enclosing=enclosing)


def test_matches_name_the_repository_where_there_are_several() -> None:
    answer = show_grep(grep_reply(grep_match(1), grep_match(1, repo="acme/other")))
    assert [match["repo"] for match in answer.structured["matches"]] == ["acme/app", "acme/other"]
    assert "acme/other a.py" in answer.text


def test_a_long_line_is_clipped_before_a_match_is_omitted() -> None:
    reply = grep_reply(grep_match(1, text="y" * 5_000), grep_match(2))
    assert matches.fit_matches(reply, 200).kept == 2
    answer = show_grep(reply, 200)
    assert "more characters" in answer.structured["matches"][0]["text"]
    assert answer.structured["matches"][1]["text"] == "x = 1"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"files_scanned": 0}, "No match: the index rules out every file;"),
        (
            {"files_scanned": 0, "note": "no indexed file passes language 'go'"},
            "No match in 0 files scanned;",
        ),
        ({"files_scanned": 4}, "No match in 4 files scanned;"),
    ],
)
def test_an_empty_result_names_the_searched_files(fields, expected) -> None:
    answer = show_grep(grep_reply().model_copy(update=fields))
    assert answer.text.startswith(expected)
    assert fields.get("note", "") in answer.text


def file_matches(count: int, lines: int | None = None, repos: int = 1) -> tuple[FileMatches, ...]:
    return tuple(
        FileMatches(repo=f"acme/app{n % repos}", file_path=f"src/{n:03}.py", lines=lines)
        for n in range(count)
    )


def test_files_are_lines_with_counts_and_totals() -> None:
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


def test_unknown_counts_and_totals_are_omitted() -> None:
    reply = grep_reply().model_copy(update={"files": file_matches(2, repos=2), "files_scanned": 40})
    answer = show_grep(reply)
    assert answer.structured["files"][1] == {"repo": "acme/app1", "file_path": "src/001.py"}
    assert "total_files" not in answer.structured
    assert answer.text.startswith(
        "acme/app0 src/000.py\nacme/app1 src/001.py\n\n2 files with matches, of 40 files scanned;"
    )


def test_files_that_do_not_fit_are_omitted() -> None:
    assert 1 < matches.fit_matches(grep_reply().model_copy(update={"files": file_matches(99)}), 300).kept < 99
