"""Conventions that a query selects."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.rpc.guidance import Convention, ConventionsReply, RulesDocument
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
