"""Tests which rules apply to a path."""

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


def test_rules_of_folders_around_come_nearest_first() -> None:
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


def test_all_rules_come_outermost_first_without_a_path() -> None:
    found = rules_for("", PATHS)
    assert found[0] == "AGENTS.md"
    assert found[-1] == "depot/scales/.cursor/rules/weights/units.mdc"
    assert "ferry/GEMINI.md" in found
    assert len(found) == len(PATHS) - 2


def test_folder_with_a_common_prefix_is_another_one() -> None:
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
def test_rules_apply_to_the_folder_around_tool_folders(rules, folder) -> None:
    assert folder_of(rules) == folder


def test_only_contributing_guides_are_for_people() -> None:
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
def test_cursor_rules_apply_by_front_matter(front, path, why) -> None:
    assert applies(".cursor/rules/style.mdc", f"---\n{front}\n---\nBe brief.\n", path) == why


def test_globs_are_relative_to_the_folder_of_the_rules() -> None:
    assert (
        applies("web/.cursor/rules/a.mdc", "---\nglobs: src/*.ts\n---\n", "web/src/a.ts") == "glob src/*.ts"
    )


def test_rules_with_an_invalid_glob_may_apply() -> None:
    why = applies(".cursor/rules/a.mdc", "---\nglobs: src/{a\n---\n", "src/a.ts")
    assert why == "perhaps: its glob src/{a is not valid"


def test_rules_without_front_matter_do_not_apply() -> None:
    assert applies(".cursor/rules/a.mdc", "x" * 1_000_000, "a.py") == ""
