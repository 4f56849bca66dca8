"""Commits as questions: the subject is asked of the tree some hundred commits before, and what it changed answers."""

import re
import subprocess
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import NamedTuple

BACK = 400
SUFFIXES = frozenset(
    [
        ".py",
        ".ts",
        ".js",
        ".go",
        ".rs",
        ".java",
        ".cs",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".rb",
        ".php",
        ".kt",
        ".swift",
        ".scala",
    ]
)
NOISE = re.compile(
    r"\b(bump|release|merge|typos?|lint|format(ting)?|ci|docs?|documentation|changelog|deps?|dependenc\w+|version"
    r"|style|revert|rename|copyright|license|chore|cleanup|readme|tests?|spelling|comments?|pin|upgrade|prepare)\b",
    re.IGNORECASE,
)
ASIDE = re.compile(
    r"(^|/)(tests?|spec|docs?|_?examples?|_?benchmarks?|fixtures|vendor)(/|$)|_test\.go$|Test\.java$|test_"
)
TAGS = re.compile(r"\(?#\d+\)?|\[[^\]]*\]|^\s*\w+(\([^)]*\))?!?:\s")
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
FILES_MAX, WORDS_MIN, CHARS_MAX = 2, 4, 150
# Longer files take seconds to align.
LINES_MAX = 4_000


class Commit(NamedTuple):
    """A commit after the tree: its subject, and the source files that it changed."""

    id: str
    subject: str
    files: tuple[str, ...]


def lay_out(clone: Path, folder: Path) -> str:
    """Writes the tree some hundred commits back to a folder, unless it is there, and returns its commit."""
    chain = git(clone, "rev-list", "--first-parent", "HEAD").split()
    base = chain[min(BACK, len(chain) // 3)]
    lay_out_commit(clone, base, folder)
    return base


def lay_out_commit(clone: Path, commit: str, folder: Path) -> None:
    """Writes the tree of a commit to a folder, unless it is there."""
    if not folder.exists():
        folder.mkdir(parents=True)
        packed = subprocess.run(
            ["git", "-C", str(clone), "archive", commit], stdout=subprocess.PIPE, check=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)


def commits_after(clone: Path, base: str, folder: Path) -> Iterator[Commit]:
    """Yields the commits whose subjects ask something and whose source files the tree has."""
    for commit in git(clone, "rev-list", "--no-merges", f"{base}..HEAD").split():
        title = git(clone, "show", "-s", "--format=%s", commit)
        subject = " ".join(TAGS.sub(" ", title).split()).strip(" .:-")
        if len(subject.split()) < WORDS_MIN or len(subject) > CHARS_MAX or NOISE.search(subject):
            continue
        status = git(clone, "show", "--format=", "--name-status", "-M", commit)
        changed = [line.split("\t") for line in status.splitlines() if "\t" in line]
        source = [
            path
            for _, *_, path in changed
            if PurePosixPath(path).suffix in SUFFIXES and not ASIDE.search(path)
        ]
        if 1 <= len(source) <= FILES_MAX and all((folder / path).is_file() for path in source):
            yield Commit(commit, subject, tuple(source))


def changed_lines(clone: Path, commit: Commit, folder: Path) -> dict[str, set[int]]:
    """Returns by file the lines of the tree that a commit changed, as far as they are still there before it."""
    found: dict[str, set[int]] = {}
    for path in commit.files:
        if not git(clone, "ls-tree", f"{commit.id}^", "--", path):
            continue  # the commit adds the file
        before = git(clone, "show", f"{commit.id}^:{path}").split("\n")
        tree = (folder / path).read_text(encoding="utf-8", errors="replace").split("\n")
        if max(len(before), len(tree)) > LINES_MAX:
            continue
        blocks = SequenceMatcher(None, before, tree, autojunk=False).get_matching_blocks()
        here = {a + at + 1: b + at + 1 for a, b, size in blocks for at in range(size)}
        hunks = HUNK.findall(git(clone, "show", "-U0", "--format=", commit.id, "--", path))
        touched = {
            line
            for start, count in hunks
            # A hunk that only adds lines stands behind the line that it names.
            for line in range(int(start), int(start) + max(1, int(count or 1)))
        }
        if lines := {here[line] for line in touched if line in here}:
            found[path] = lines
    return found


def git(clone: Path, *arguments: str) -> str:
    """Returns the output of a command of git."""
    ran = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, check=True)
    return ran.stdout.decode(errors="replace")
