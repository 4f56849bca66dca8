"""Conventions that a query selects."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.rpc.guidance import Convention, ConventionExample, ConventionsReply, RulesDocument
from prism_gateway.mcp.answers import conventions

REPLY = ConventionsReply(
    repo="acme/app",
    conventions=(
        Convention(topic="naming", statement="functions are snake_case", count=9, total=10),
        Convention(topic="tests", statement="are in tests/, one file per module", count=9, total=10),
    ),
    rules=(
        RulesDocument(
            file_path="AGENTS.md", line_count=2, start_line=1, end_line=1, content="Test each error.", applies="repository"
        ),
    ),
    files_read=3,
    files=3,
    receipt=RECEIPT,
)  # fmt: skip


@pytest.mark.parametrize(
    ("query", "topics", "rules"),
    [
        ("", ["naming", "tests"], 1),
        ("how are names written", ["naming"], 0),
        ("testing", ["tests"], 1),
        ("errors", [], 1),
        ("database", ["naming", "tests"], 1),
        ("what is the convention", ["naming", "tests"], 1),
    ],
)
def test_a_query_selects_conventions_and_rules(query, topics, rules) -> None:
    found = conventions.about(REPLY, query)
    assert ([one.topic for one in found.conventions], len(found.rules)) == (topics, rules)


def test_an_example_whose_path_says_it_is_a_path() -> None:
    examples = (
        ConventionExample(file_path="tests/test_a.py", line=1, text="test_a.py"),
        ConventionExample(file_path="a.py", line=3, text="def main()"),
    )
    naming = REPLY.conventions[0].model_copy(update={"examples": examples})
    text = conventions.answer(REPLY.model_copy(update={"conventions": (naming,)}), 1_000).text
    assert "\n    tests/test_a.py\n    a.py:3 def main()\n" in text
