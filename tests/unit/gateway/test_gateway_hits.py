"""Hits within a budget, for programs and for readers."""

from gateway_receipts import RECEIPT

from prism_contracts.rpc.search import FileContext, Hit, Intent, SearchReply
from prism_gateway.mcp.answers import hits
from prism_gateway.mcp.tool import Answer
from prism_gateway.search import first_lines, shorten, with_top_lines


def hit(number: int, lines: int = 3) -> Hit:
    return Hit(
        repo="acme/app",
        file_path=f"src/{number}.py",
        start_line=11,
        end_line=10 + lines,
        content="".join(f"line {line} of some code\n" for line in range(lines)),
        score=1 / (number + 1),
        legs={"bm25": number + 1},
    )


def search_reply(*results: Hit) -> SearchReply:
    return SearchReply(
        results=results,
        confidence="high",
        query_intent=Intent.GENERAL,
        next_actions=("Read it.",),
        receipt=RECEIPT,
    )


def show_search(reply: SearchReply, max_tokens: int, **limits: int) -> Answer:
    return hits.search(shorten(reply, max_tokens, **limits), max_tokens)


def test_a_search_within_its_budget_is_complete() -> None:
    answer = show_search(search_reply(hit(0), hit(1)), 4_000)
    assert [result["content"] for result in answer.structured["results"]] == [hit(0).content, hit(1).content]
    assert "truncated" not in answer.structured
    assert answer.text.startswith("acme/app src/0.py:11-13\nline 0 of some code\n")
    assert answer.text.endswith("next: Read it.")


def test_top_lines_are_those_of_the_first_two_hits() -> None:
    found = [hit(0, 100), hit(1, 100), hit(2, 0), hit(3, 0)]
    answer = hits.search(with_top_lines(search_reply(*found)), 4_000)
    first, second, *others = (result["content"] for result in answer.structured["results"])
    assert first.endswith("line 39 of some code\n… 61 more lines: read_file from line 51")
    assert second.endswith("line 5 of some code\n… 95 more lines: read_file from line 17")
    assert others == ["", ""]
    assert "\n\nacme/app src/2.py:11-10\nacme/app src/3.py:11-10\n\nconfidence" in answer.text


def test_the_lines_of_a_hit_are_those_of_its_symbol() -> None:
    found = hit(0, 20).model_copy(update={"symbol": "pay", "symbol_start": 15, "symbol_end": 18})
    (shown,) = with_top_lines(search_reply(found)).results
    assert (shown.start_line, shown.end_line) == (15, 18)
    assert shown.content == "\n".join(f"line {line} of some code" for line in range(4, 8))


def test_a_cut_that_saves_no_line_is_not_made() -> None:
    assert first_lines("a\nb\nc", 2, 1) == "a\nb\nc"
    assert first_lines("a\nb\nc\nd", 2, 1) == "a\nb\n… 2 more lines: read_file from line 3"


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


def test_a_search_far_over_its_budget_omits_the_last_results() -> None:
    answer = show_search(search_reply(*(hit(number, 200) for number in range(20))), 1_000)
    shown = answer.structured["results"]
    assert [result["file_path"] for result in shown] == [f"src/{number}.py" for number in range(len(shown))]
    assert 0 < len(shown) < 20
    assert "Cut to max_tokens=1000" in answer.structured["next_actions"][0]


def test_an_empty_result_explains_why() -> None:
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
        "Nothing found: no leg found anything. Words searched: retry.\n"
    )


def test_a_passage_has_a_limit_of_its_own() -> None:
    answer = show_search(search_reply(hit(0, 3), hit(1, 200)), 4_000, passage_chars_max=100)
    first, second = answer.structured["results"]
    assert first["content"] == hit(0, 3).content
    assert "more lines: read_file from line" in second["content"]
    assert "truncated" not in answer.structured


def test_definitions_of_the_file_follow_its_hit() -> None:
    context = FileContext(lines=40, definitions=("1-9 class A", "3-5 method A.b"), definitions_left_out=2)
    answer = show_search(search_reply(hit(0).model_copy(update={"file_context": context}), hit(1)), 4_000)
    assert answer.structured["results"][0]["file_context"]["definitions"] == ["1-9 class A", "3-5 method A.b"]
    assert "file_context" not in answer.structured["results"][1]
    assert "\nfile of 40 lines: 1-9 class A; 3-5 method A.b and 2 more\n" in answer.text


def test_a_compact_hit_is_one_line() -> None:
    answer = show_search(search_reply(hit(0).model_copy(update={"content": ""})), 4_000)
    assert answer.text.startswith("acme/app src/0.py:11-13\n\nconfidence")
