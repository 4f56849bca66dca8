"""Which tasks a commit message or a branch names, and which words only look like it."""

import pytest

from prism_contracts.types import COMMIT_MESSAGE_CHARS_MAX, REF_CHARS_MAX
from prism_workspace.core.task_mentions import MENTIONS_MAX, named_in_branch, named_in_message

SHORT = "7c0d5a54"
WHOLE = "7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90"


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (f"Retry deliveries (#{SHORT})", [SHORT]),
        (f"#{SHORT}: Retry", [SHORT]),
        (f"Retry\n\ntask: {SHORT}", [SHORT]),
        (f"Retry\n\nTask:{SHORT}\n", [SHORT]),
        (f"Retry\n\nTask:\t#{SHORT.upper()}.", [SHORT]),
        (f"task: {WHOLE}", [WHOLE]),
        (f"See #{WHOLE.upper()}, and #{SHORT}", [WHOLE, SHORT]),
        (f"#{SHORT} #{SHORT} task: {SHORT}", [SHORT]),
        ("task: 00000001 and #00000002", ["00000001", "00000002"]),
    ],
)
def test_a_message_names_tasks(message: str, named: list[str]) -> None:
    assert named_in_message(message) == named


@pytest.mark.parametrize(
    "message",
    [
        f"Revert {SHORT}",
        f"This reverts commit {SHORT}{SHORT}{SHORT}{SHORT}{SHORT}.",
        f"Fix {SHORT[:7]}, #{SHORT[:7]} and task: {SHORT[:7]}",
        f"#{SHORT}9",
        f"#{SHORT}-3f0e",
        f"#{SHORT}_",
        f"task: {WHOLE}0",
        f"acme/app#{SHORT}",
        f"https://example.org/page#{SHORT}",
        f"https://example.org/#{SHORT}",
        f"##{SHORT}",
        f"&#{SHORT}",
        f"subtask: {SHORT}",
        f"task\n{SHORT}",
        f"task:\n{SHORT}",
        f"tasks: {SHORT}",
        f"task {SHORT}",
        f"# {SHORT}",
        "Closes #1234 and #12345678901",
        "task: facade",
        "#defaced",
        "\u0661" * 8,
        "#" + "\uff11" * 8,
        "",
    ],
)
def test_what_only_looks_like_an_id_names_none(message: str) -> None:
    assert named_in_message(message) == []


@pytest.mark.parametrize(
    ("branch", "named"),
    [
        (f"feature/{SHORT}-retry", [SHORT]),
        (f"feature/{SHORT.upper()}_retry", [SHORT]),
        (SHORT, [SHORT]),
        (WHOLE, [WHOLE]),
        (f"ada/{WHOLE}-retry", [WHOLE]),
        (f"retry.{SHORT}", [SHORT]),
        (f"fix#{SHORT}", [SHORT]),
        (f"{SHORT}/00000001", [SHORT, "00000001"]),
    ],
)
def test_a_branch_names_tasks(branch: str, named: list[str]) -> None:
    assert named_in_branch(branch) == named


@pytest.mark.parametrize(
    "branch",
    [
        "main",
        "",
        f"feature/{SHORT}retry",
        f"feature/x{SHORT}",
        f"feature/\u00e9{SHORT}",
        f"revert-{SHORT[:7]}",
        f"revert-{SHORT}{SHORT}",
        "release-2026-11-25",
        "facade/added",
    ],
)
def test_parts_of_a_branch_that_are_longer_or_shorter_name_none(branch: str) -> None:
    assert named_in_branch(branch) == []


def test_a_message_names_so_many_tasks_and_no_more() -> None:
    ids = [f"{number:08x}" for number in range(MENTIONS_MAX + 1)]
    assert named_in_message(" ".join(f"#{one}" for one in ids)) == ids[:MENTIONS_MAX]


@pytest.mark.parametrize("part", ["#", "task:", "task: ", "task:\t", "7c0d5a54-", "#7c0d5a54-3f0e-", "-"])
def test_texts_of_the_longest_length_are_read(part: str) -> None:
    assert named_in_message((part * COMMIT_MESSAGE_CHARS_MAX)[:COMMIT_MESSAGE_CHARS_MAX]) == []
    assert set(named_in_branch((part * REF_CHARS_MAX)[:REF_CHARS_MAX])) <= {SHORT}
