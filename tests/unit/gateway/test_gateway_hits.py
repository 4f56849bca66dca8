"""Hits within a budget, for programs and for readers."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.rpc.search import FileContext, Hit, Intent, SearchReply, ShownLine
from prism_gateway.mcp.answers import hits
from prism_gateway.mcp.tool import Answer
from prism_gateway.search import shorten


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
    assert answer.text.startswith("src/0.py:11-13 top level\n11: line 0 of some code\n12: line 1")
    assert answer.text.endswith("next: Read it.")


def top(number: int, score: float, *lines: int, **fields: object) -> Hit:
    """Returns a hit that is a symbol."""
    shown = tuple(ShownLine(number=line, text=f"line {line}") for line in lines)
    known = {"content": "", "symbol": "Store.load", "lines": shown, "raw_score": score}
    return hit(number).model_copy(update=known | fields)


def test_a_hit_shows_numbered_lines_with_gaps_and_callees() -> None:
    found = top(0, 1.0, 11, 13, matched=("order",), callees=("Store.save 20-22",))
    text = hits.search(search_reply(found), 4_000).text
    assert text.startswith(
        "src/0.py:11-13 Store.load (says order)\n  11: line 11\n  …\n  13: line 13\n  calls, by name: Store.save 20-22\n"
    )


def test_code_of_another_function_of_the_file_follows_its_name() -> None:
    lines = (ShownLine(number=30, text="def settle():"), ShownLine(number=33, text="pay()"))
    found = top(0, 1.0, 11, beside=("settle 30-40", "close 50-52"), beside_lines=lines)
    text = hits.search(search_reply(found), 4_000).text
    assert (
        "\n  also in this file: settle 30-40; close 50-52\n    30: def settle():\n    …\n    33: pay()\n"
        in text
    )


def test_further_hits_are_one_line_each_and_weak_ones_last() -> None:
    first = top(0, 1.0, 11)
    weak = [top(number, 0.2) for number in range(2, 8)]
    good = top(9, 0.8, signature="def load(self)", matched=("load",), symbol="")
    text = hits.search(search_reply(first, *weak, good), 4_000).text
    assert (
        "\n\nsrc/9.py:11-13 top level: def load(self) (says load)\nweak: src/2.py:11-13 Store.load\n" in text
    )
    assert "\n… and 3 weaker: src/5.py, src/6.py, src/7.py\n" in text


def test_what_a_reranker_placed_is_not_weak_by_its_signals() -> None:
    placed = [top(number, 0.2, legs={"keyword": 3, "reranker": number}) for number in range(2, 8)]
    text = hits.search(search_reply(top(0, 1.0, 11), *placed), 4_000).text
    assert "weak" not in text
    assert "src/7.py" in text


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
    assert len(answer.text) < 500 * 4 * 1.25  # line numbers are not counted


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
    assert answer.text.startswith("src/0.py:11-13 top level\n\nconfidence")


def test_prose_has_no_line_numbers() -> None:
    assert "\nline 0 of some code\n" in hits.search(search_reply(hit(0)), 4_000, with_numbers=False).text


def test_a_text_that_ends_before_its_symbol_says_where_to_read_on() -> None:
    text = hits.search(search_reply(hit(0).model_copy(update={"end_line": 40})), 4_000).text
    assert "13: line 2 of some code\n… 27 more lines: read_file from line 14\n" in text


@pytest.mark.parametrize(
    ("confidence", "shows"), [("high", False), ("medium", True), ("low", True), ("none", False)]
)
def test_more_hits_are_offered_if_the_first_may_be_wrong(confidence, shows) -> None:
    reply = search_reply(hit(0)).model_copy(update={"confidence": confidence, "next_cursor": "c1"})
    answer = hits.search(reply, 4_000)
    assert ("more: cursor=c1" in answer.text) is shows
    assert answer.structured["next_cursor"] == "c1"
