"""Compares answers with lines, and keeps the other part of a page."""

import pytest

from bench import exactness
from bench.references_exactness import Answered, _differences

LANGUAGES = {"a.py": "python", "b.md": "markdown"}
FOUND = {("a.py", 1), ("a.py", 2), ("a.py", 3), ("a.py", 9), ("b.md", 4)}
ACCOUNT = {
    "name": "weigh",
    "text_lines": 4,
    "prose_lines": 1,
    "lines_by_group": {"callers": 1},
    "definition_lines": 1,
    "candidate_lines": 0,
    "other_lines": 1,
    "mentions": 0,
    "unexplained": 1,
    "alias_lines": 1,
    "unexplained_lines": [{"file_path": "a.py", "line": 3}],
    "mention_lines": [],
}


def differences(**account: object) -> list[str]:
    uses = [{"file_path": "a.py", "line": line} for line in (2, 7)]
    main = {
        "reconciliation": ACCOUNT | account,
        "groups": {"callers": uses},
        "definitions": [{"file_path": "a.py", "start_line": 1, "name_line": 1, "end_line": 5}],
        "total_definitions": 1,
    }
    other = {"reconciliation": {"other": [{"file_path": "a.py", "line": 9}]}}
    return list(_differences(Answered([main], [other], 0.0), FOUND, LANGUAGES))


def test_an_answer_that_accounts_for_every_line_does_not_differ():
    assert differences() == []


@pytest.mark.parametrize(
    ("account", "found"),
    [
        ({"text_lines": 5, "mentions": 1, "mention_lines": [{"file_path": "a.py", "line": 2}]}, "5 lines of code instead of 4"),
        ({"prose_lines": 0}, "0 lines of prose instead of 1"),
        ({"mentions": 1, "mention_lines": [{"file_path": "a.py", "line": 2}]}, "the parts add up to 5 instead of 4"),
        ({"unexplained_lines": []}, ""),
        ({"unexplained": 0, "other_lines": 2, "unexplained_lines": []}, "not listed: [('a.py', 3)] of 1, 0 are only counted"),
        ({"alias_lines": 0}, "without the name: [('a.py', 7)] of 1 instead of 0"),
    ],
)  # fmt: skip
def test_each_difference_is_reported(account, found):
    assert differences(**account) == ([found] if found else [])


def test_each_part_of_the_page_is_written_alone(tmp_path):
    page = tmp_path / "page.md"
    exactness.write_part(page, "# Grep\n", 0)
    exactness.write_part(page, "\nLines.\n", 1)
    exactness.write_part(page, "# Grep again\n", 0)
    assert page.read_text() == "# Grep again\n\n## References\n\nLines.\n"
