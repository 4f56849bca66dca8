"""Wikis as text for agents."""

from pathlib import Path

import prism_contracts
from prism_contracts.records import WikiState
from prism_contracts.rpc.wiki import WikiPageReply, WikiReply
from prism_gateway.mcp.answers import wiki

EXAMPLES = Path(prism_contracts.__file__).with_name("examples")
FOUND = WikiReply.model_validate_json((EXAMPLES / "WikiReply.json").read_text(encoding="utf-8"))
WIKI = FOUND.model_copy(update={"hits": ()})
PAGE = WikiPageReply.model_validate_json((EXAMPLES / "WikiPageReply.json").read_text(encoding="utf-8"))
LINES = [f"line {number} " + "x" * 90 for number in range(1, 61)]


def test_a_long_page_is_continued_where_it_was_cut() -> None:
    reply = PAGE.model_copy(update={"content": "\n".join(LINES) + "\n"})
    read: list[str] = []
    while len(read) < len(LINES):
        answer = wiki.page(reply, len(read) + 1, 300)
        assert answer.structured["start_line"] == len(read) + 1
        read += answer.structured["content"].splitlines()
        assert answer.structured["end_line"] == len(read)
        assert ("truncated" in answer.structured) == (len(read) < len(LINES))

    assert read == LINES


def test_a_page_that_was_cut_names_the_next_line() -> None:
    reply = PAGE.model_copy(update={"content": "\n".join(LINES) + "\n"})

    answer = wiki.page(reply, 1, 300)

    assert f"continue with start_line={answer.structured['end_line'] + 1}." in answer.text


def test_a_line_after_the_last_is_answered_with_the_number_of_lines() -> None:
    assert "note: the page has 1 lines." in wiki.page(PAGE, 50, 300).text


def test_failed_pages_are_listed_with_what_to_do() -> None:
    text = wiki.contents(WIKI, 4_000).text

    assert "failed: flows after 3 attempts: The atlas service is not running." in text
    assert "next: generate_wiki tries the failed pages again." in text


def test_a_running_wiki_says_how_to_follow_it() -> None:
    running = WIKI.model_copy(update={"state": WikiState.RUNNING, "failed_pages": ()})

    assert "list_wiki_pages shows how far it is" in wiki.contents(running, 4_000).text


def test_a_wiki_without_pages_says_why() -> None:
    failed = {"state": WikiState.FAILED, "failed_pages": (), "pages": (), "error": "The graph is not built."}

    text = wiki.contents(WIKI.model_copy(update=failed), 4_000).text

    assert "failed: The graph is not built.\nnext: call generate_wiki again." in text


def test_sections_that_match_replace_the_table_of_contents() -> None:
    answer = wiki.contents(FOUND, 4_000, "run the tests")

    assert "run-and-test:9 How to run and test: Commands of `Makefile`\n| `make test`" in answer.text
    assert answer.structured["pages"] == []
    assert len(answer.structured["hits"]) == 1


def test_sections_that_do_not_fit_are_cut() -> None:
    answer = wiki.contents(FOUND.model_copy(update={"hits": FOUND.hits * 30}), 500, "run the tests")

    assert answer.structured["truncated"]
    assert 0 < len(answer.structured["hits"]) < 30


def test_a_query_without_hits_shows_what_there_is() -> None:
    answer = wiki.contents(WIKI, 4_000, "zebra")

    assert "note: no section has a word of the query." in answer.text
    assert answer.structured["pages"]


def test_contents_that_do_not_fit_are_cut() -> None:
    many = WIKI.model_copy(update={"pages": WIKI.pages * 30})

    answer = wiki.contents(many, 500)

    assert answer.structured["truncated"]
    assert 0 < len(answer.structured["pages"]) < 30
