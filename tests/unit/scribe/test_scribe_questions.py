"""Questions taken apart, and the mode that they ask for."""

import pytest

from prism_contracts.rpc.context import ContextMode
from prism_scribe.core.questions import read_question, route


def test_symbols_are_told_from_words() -> None:
    question = read_question("Where does `retry` in Session.get call send_request() of HTTPAdapter?")
    assert question.symbols == ("retry", "Session.get", "send_request", "HTTPAdapter")


def test_paths_are_no_symbols() -> None:
    question = read_question("What does src/net/pool_manager.py share with deploy/compose.yaml?")
    assert question.paths == ("src/net/pool_manager.py", "deploy/compose.yaml")
    assert question.symbols == ()


def test_a_question_of_two_parts_is_split() -> None:
    question = read_question("Where are leases renewed, and which alert fires when a lease expires?")
    assert question.parts == ("Where are leases renewed", "which alert fires when a lease expires")


def test_a_part_with_a_pronoun_names_what_it_refers_to() -> None:
    code = read_question("Who calls `Depot.weigh` and what breaks if it changes? Who owns them?")
    assert code.parts == (
        "Who calls `Depot.weigh`",
        "what breaks if it changes (Depot.weigh)",
        "Who owns them (Depot.weigh)",
    )
    assert (
        read_question("Who renews leases? Where are they stored?").parts[1]
        == "Where are they stored (renews leases)"
    )
    assert read_question("Who renews leases? What is `Lease.end`?").parts[1] == "What is `Lease.end`"


def test_one_part_is_the_question_itself() -> None:
    assert read_question("Where are leases renewed?").parts == ()


def test_words_are_missing_until_a_text_has_their_stem() -> None:
    question = read_question("who renews expired leases")
    assert question.words == ("renews", "expired", "leases")
    assert question.missing(["def renew(lease): ..."]) == ("expired",)
    assert question.missing(["def renew(lease): ...", "EXPIRES_S = 3"]) == ()


@pytest.mark.parametrize(
    "text", ["", "???", "the of and", "\0", "a" * 4_000, "`" * 100, "日本語", "::.." * 900]
)
def test_every_text_is_read(text: str) -> None:
    assert route(read_question(text))[0] in {ContextMode.FAST, ContextMode.DEEP}


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        ("retry budget default", ContextMode.FAST, "one place"),
        ("How does a push reach the index?", ContextMode.DEEP, "how does"),
        ("where is Session.get and HTTPAdapter", ContextMode.DEEP, "several symbols"),
        ("Who renews leases? Where are they stored?", ContextMode.DEEP, "2 parts"),
    ],
)
def test_the_mode_follows_from_the_question_and_says_why(text: str, mode: ContextMode, reason: str) -> None:
    chosen, why = route(read_question(text))
    assert chosen is mode
    assert reason in why
