"""Our parsing of `.gitignore` and `.gitattributes` compared with git's own, on random trees."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from prism_source.attributes import LINGUIST, AttributeRules, attributes_of
from prism_source.walk import IgnoreFile, walk_folder

SEGMENTS = (
    "*",
    "*.py",
    "a",
    "b",
    "build",
    "src",
    "?",
    "**",
    "[ab]",
    "[!a]",
    "*.txt",
    ".h",
    "c.*",
    "b*",
    "\\a",
)
ATTRIBUTES = ("linguist-generated", "-linguist-vendored", "!linguist-vendored", "linguist-language=Go")
FOLDERS = ("a", "b", "build", "src")
NAMES = (*FOLDERS, "c.py", "d.txt", ".h")


def pattern(dice: random.Random, *, for_attributes: bool) -> str:
    made = "/".join(dice.choices(SEGMENTS, k=dice.choice((1, 1, 1, 2, 2, 3))))
    made = dice.choice(("", "", "", "/")) + made
    if for_attributes:
        return f"{made} {dice.choice(ATTRIBUTES)}"
    return dice.choice(("", "", "!")) + made + dice.choice(("", "", "/"))


def grow(root: Path, dice: random.Random) -> None:
    for _ in range(14):
        folder = root.joinpath(*dice.choices(FOLDERS, k=dice.randint(0, 3)))
        if all(not part.is_file() for part in (folder, *folder.parents)):
            folder.mkdir(parents=True, exist_ok=True)
            target = folder / dice.choice(NAMES)
            if not target.is_dir():
                target.write_text("x")
    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    for folder in dice.sample(folders, min(len(folders), 2)):
        for name in (".gitignore", ".gitattributes"):
            lines = [
                pattern(dice, for_attributes=name == ".gitattributes") for _ in range(dice.randint(1, 4))
            ]
            (folder / name).write_text("\n".join(lines) + "\n")


def git(root: Path, *arguments: str, stdin: str = "") -> list[str]:
    done = subprocess.run(
        ["git", *arguments], cwd=root, input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_are_read_as_git_reads_them(tmp_path, seed):
    root = tmp_path / "root"
    root.mkdir()
    grow(root, random.Random(seed))
    ours = sorted(found.path.decode() for found in walk_folder(os.fsencode(root)))
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    rules = AttributeRules(
        (path, (root / path).read_text()) for path in files if path.endswith(".gitattributes")
    )
    git(root, "init", "--quiet")
    assert ours == sorted(git(root, "ls-files", "-z", "--others", "--exclude-standard"))
    answers = git(root, "check-attr", "-z", "--stdin", *LINGUIST, stdin="\0".join(files))
    states: dict[str, dict[str, str]] = {path: {} for path in files}
    for path, name, state in zip(answers[::3], answers[1::3], answers[2::3], strict=True):
        states[path][name] = state
    assert {path: rules.of(path) for path in files} == {path: attributes_of(states[path]) for path in files}


@pytest.mark.parametrize(
    ("text", "path", "ignored"),
    [
        ("a\r\nb\r\n", "a", True),
        ("\ufeffa\n", "a", True),
        ("a \n", "a", True),
        ("a\\ \n", "a ", True),
        ("\\!a\n", "!a", True),
        ("\\#a\n", "#a", True),
        ("#a\n", "#a", None),
        ("a\n!a\n", "a", False),
        ("!a\na\n", "a", True),
        ("\n/\n!\n", "a", None),
        ("a/\n", "a", None),
        ("x" * 5_000 + "\n", "x" * 5_000, True),
        ("*a" * 50 + "b\n", "a" * 4_000, None),
    ],
)
def test_lines_of_an_ignore_file_are_parsed(text, path, ignored):
    assert IgnoreFile(text).decide(path, is_folder=False) is ignored


def test_thousands_of_rules_work_and_the_last_one_wins():
    lines = [f"**/pattern{number}*/foo*x" for number in range(3_000)] + ["name[ab]?"] * 100 + ["!namebc"]
    rules = IgnoreFile("\n".join(lines))
    assert rules.decide("a/b/pattern2999zz/foobarx", is_folder=False) is True
    assert rules.decide("a/namebc", is_folder=False) is False
    assert rules.decide("a/nameac", is_folder=False) is True
    assert rules.decide("a/namecc", is_folder=False) is None


def test_hostile_patterns_take_linear_time():
    for text in (
        "[" * 1_000_000,
        "[a" * 500_000,
        "*" * 1_000_000,
        "\\" * 999_999,
        "**/" * 300_000,
        "[]" * 500_000,
    ):
        assert IgnoreFile(text).decide("a/b", is_folder=False) in (None, True)
