"""The files and paths of diffs, with every header that git prints."""

import ast
from pathlib import Path

import pytest

from prism_source.unified_diff import CONTEXT, NO_NEWLINE, REMOVED, PatchHunk, parse_diff

ROOT = Path(__file__).parents[3]
CHANGE = "@@ -1 +1 @@\n-a\n+b\n"


def paths(text: str, **options: str) -> list[tuple[str, str]]:
    return [(file.old_path, file.new_path) for file in parse_diff(text, **options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"--- a/x.py\n+++ b/x.py\n{CHANGE}", ("x.py", "x.py")),
        (f"--- x.py\n+++ x.py\n{CHANGE}", ("x.py", "x.py")),
        (f"--- a/x.py\t2026-01-01\n+++ b/x.py\t2026-01-02\n{CHANGE}", ("x.py", "x.py")),
        ("--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+b\n", ("", "x.py")),
        ("--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", ("x.py", "")),
        ("diff --git a/x y b/z\nrename from x y\nrename to z\n", ("x y", "z")),
        ("diff --git i/x.py w/z.py\nrename from x.py\nrename to z.py\n", ("x.py", "z.py")),
        ('diff --git "a/\\303\\251" b/z\nrename from "\\303\\251"\nrename to z\n', ("é", "z")),
        ("diff --git a/x b/x\nnew file mode 100644\n", ("", "x")),
        ("diff --git a/x b/x\ndeleted file mode 100644\n", ("x", "")),
        ("Binary files a/x.png and b/x.png differ\n", ("x.png", "x.png")),
    ],
)
def test_each_side_has_its_path(text, expected) -> None:
    assert paths(text) == [expected]


@pytest.mark.parametrize(
    ("quoted", "name"),
    [
        (r'"a/caf\303\251\t\"1\".py"', 'café\t"1".py'),
        (r'"a/\\x"', r"\x"),
        (r'"a/\x"', "x"),
        ('"', '"'),
    ],
)
def test_a_quoted_path_is_decoded(quoted, name) -> None:
    assert paths(f"--- {quoted}\n+++ b/x\n{CHANGE}") == [(name, "x")]


def test_a_path_that_is_not_utf_8_is_refused_or_replaced() -> None:
    text = f'--- "a/\\377"\n+++ b/x\n{CHANGE}'
    with pytest.raises(ValueError, match="not UTF-8"):
        parse_diff(text)
    assert paths(text, path_errors="replace") == [("\ufffd", "x")]


@pytest.mark.parametrize(
    "text", ["", "ship the parcels\n", CHANGE, "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n-a\n"]
)
def test_text_that_is_not_a_diff_raises_its_reason(text) -> None:
    with pytest.raises(ValueError, match=r"names no file|Hunk is shorter|Unexpected hunk"):
        parse_diff(text)


def test_a_hunk_has_its_lines_with_marks_and_ends() -> None:
    text = "--- a/x\n+++ b/x\n@@ -3,2 +3 @@\n one\r\n-two\n\\ No newline at end of file\n"
    [file] = parse_diff(text)
    marker = " No newline at end of file\n"
    lines = ((CONTEXT, "one\r\n"), (REMOVED, "two\n"), (NO_NEWLINE, marker))
    assert file.hunks == (PatchHunk(3, 2, 3, 1, lines),)


def test_no_other_module_parses_diffs() -> None:
    found = [
        str(file.relative_to(ROOT))
        for top in ("libs", "services", "cli")
        for file in sorted((ROOT / top).rglob("*.py"))
        if "unidiff" in file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "unidiff"
    ]
    assert set(found) == {"libs/source/prism_source/unified_diff.py"}
