"""Which rules hold for a path."""

import pytest

from prism_search.core.rules import applies, folder_of, is_contributing, rules_for

PATHS = [
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "docs/dev/contributing.rst",
    ".github/copilot-instructions.md",
    ".cursor/rules/style.mdc",
    "depot/CLAUDE.md",
    "depot/scales/AGENTS.md",
    "depot/scales/.cursor/rules/weights/units.mdc",
    "ferry/GEMINI.md",
    "ferry/agents.py",
]


def test_the_nearest_folder_comes_first_and_other_folders_never() -> None:
    assert rules_for("depot/scales/weigh.py", PATHS) == [
        "depot/scales/AGENTS.md",
        "depot/scales/.cursor/rules/weights/units.mdc",
        "depot/CLAUDE.md",
        "AGENTS.md",
        ".cursor/rules/style.mdc",
        ".github/copilot-instructions.md",
        "CONTRIBUTING.md",
        "docs/dev/contributing.rst",
    ]


def test_without_a_path_all_rules_come_the_outermost_first() -> None:
    found = rules_for("", PATHS)
    assert found[0] == "AGENTS.md"
    assert found[-1] == "depot/scales/.cursor/rules/weights/units.mdc"
    assert "ferry/GEMINI.md" in found
    assert len(found) == len(PATHS) - 2


def test_a_folder_of_a_like_name_is_another_one() -> None:
    assert rules_for("ferrying/boat.py", ["ferry/AGENTS.md"]) == []


@pytest.mark.parametrize(
    ("rules", "folder"),
    [
        ("AGENTS.md", ""),
        ("a/.cursor/rules/b/c.mdc", "a/"),
        ("a/.github/copilot-instructions.md", "a/"),
        (".github/CONTRIBUTING.md", ""),
        ("a/docs/contributing.rst", "a/"),
    ],
)
def test_rules_are_about_the_folder_around_those_that_hold_rules(rules, folder) -> None:
    assert folder_of(rules) == folder


def test_only_those_for_contributors_are_for_people() -> None:
    assert is_contributing("CONTRIBUTING")
    assert not is_contributing("AGENTS.md")


@pytest.mark.parametrize(
    ("front", "path", "why"),
    [
        ("alwaysApply: true", "a.py", "always"),
        ("globs: *.ts,*.tsx", "web/a.tsx", "glob *.tsx"),
        ("globs: *.ts,*.tsx", "web/a.py", ""),
        ("globs: src/**/*.{ts,tsx}", "src/web/a.tsx", "glob src/**/*.{ts,tsx}"),
        ('globs: ["src/**", "lib/**"]', "lib/a.py", "glob lib/**"),
        ("globs:\n  - src/**\n  - lib/**", "lib/a.py", "glob lib/**"),
        ("description: only when asked for", "a.py", ""),
        ("globs:", "a.py", ""),
    ],
)
def test_cursors_rules_hold_where_their_front_matter_says(front, path, why) -> None:
    assert applies(".cursor/rules/style.mdc", f"---\n{front}\n---\nBe brief.\n", path) == why


def test_a_glob_of_rules_in_a_folder_is_relative_to_that_folder() -> None:
    assert (
        applies("web/.cursor/rules/a.mdc", "---\nglobs: src/*.ts\n---\n", "web/src/a.ts") == "glob src/*.ts"
    )


def test_a_glob_that_is_not_valid_is_told_and_hides_nothing() -> None:
    told = applies(".cursor/rules/a.mdc", "---\nglobs: src/{a\n---\n", "src/a.ts")
    assert told == "perhaps: its glob src/{a is not valid"


def test_a_file_without_front_matter_holds_nowhere_by_itself() -> None:
    assert applies(".cursor/rules/a.mdc", "x" * 1_000_000, "a.py") == ""
