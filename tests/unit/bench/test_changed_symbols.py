"""Whether an answer shows the function that a commit changed."""

import subprocess
from pathlib import Path

import pytest

from bench.changed_symbols import Case, judge, places_of
from bench.commits import Commit, changed_lines, commits_after

TEXT = """src/depot.py:3-9 Depot.weigh (says weigh)
  3: def weigh(self):
  5: x = 10-20
  also in this file: Depot.load 11-14; Depot.ship 30-41
  calls, by name: rate src/rates.py:2-8

weak: src/far.py:1-4 far: def far()
confidence low"""


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_places_are_those_of_hits_and_of_symbols_beside_them() -> None:
    assert list(places_of(TEXT)) == [
        ("src/depot.py", 3, 9),
        ("src/depot.py", 11, 14),
        ("src/depot.py", 30, 41),
        ("src/rates.py", 2, 8),
        ("src/far.py", 1, 4),
    ]


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        ({"src/depot.py": {5}}, (True, True, True)),
        ({"src/depot.py": {31}}, (True, False, True)),
        ({"src/rates.py": {8}}, (False, False, True)),
        ({"src/depot.py": {50}}, (True, False, False)),
    ],
)
def test_right_is_a_symbol_that_holds_a_changed_line(lines, right) -> None:
    answer = {"results": [{"file_path": "src/depot.py", "start_line": 3, "end_line": 9}]}
    found = judge(Case("r", "weigh", lines), answer, TEXT)
    assert (found.file, found.first, found.shown) == right


def test_changed_lines_are_those_of_the_tree_before(tmp_path) -> None:
    clone, tree = tmp_path / "clone", tmp_path / "tree"
    clone.mkdir()
    tree.mkdir()
    git(clone, "init", "-q")
    first = "def weigh():\n    return 1\n\n\ndef ship():\n    return 2\n"
    for text, subject in (
        (first, "Begin"),
        (f"import os\n\n\n{first}", "Import the module of paths"),
        (f"import os\n\n\n{first}".replace("2", "3"), "Ship three parcels each time"),
    ):
        (clone / "depot.py").write_text(text)
        git(clone, "add", "-A")
        git(clone, "commit", "-qm", subject)
    (tree / "depot.py").write_text(first)
    base = git(clone, "rev-list", "--max-parents=0", "HEAD").strip()
    newest, _ = commits_after(clone, base, tree)
    assert newest == Commit(newest.id, "Ship three parcels each time", ("depot.py",))
    assert changed_lines(clone, newest, tree) == {"depot.py": {6}}
