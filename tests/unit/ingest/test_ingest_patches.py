"""Diffs of git, applied to texts."""

import contextlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import EDIT_FILES_MAX
from prism_ingest.core.patches import apply, read_diff


def _applied(diff: str, old: str | None) -> str:
    patches = read_diff(diff)
    assert old is not None, "only reading was to be refused"
    return apply(patches[0], old)


LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "\x0c\n", "é\n", "x\ry\n", "\u2028\n"]), max_size=30
)
ENDS = st.sampled_from(["", "no end of line"])


def git_diff(folder: Path, old: str, new: str) -> str:
    for name, text in (("old", old), ("new", new)):
        (folder / name).write_bytes(text.encode())
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-color", "old", "new"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return done.stdout.decode()


def refused(diff: str, old: str | None = None) -> PrismError:
    with pytest.raises(PrismError) as caught:
        _applied(diff, old)
    assert caught.value.body.next_action
    return caught.value


@settings(max_examples=60)
@given(before=LINES, after=LINES, ends=st.tuples(ENDS, ENDS))
def test_applying_a_diff_of_git_gives_the_new_text(tmp_path_factory, before, after, ends) -> None:
    old, new = "".join(before) + ends[0], "".join(after) + ends[1]
    diff = git_diff(tmp_path_factory.mktemp("diff"), old, new)
    if old == new:
        assert diff == ""
        return
    [patch] = read_diff(diff)
    assert apply(patch, old) == new


CHANGE = """diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
 one
-two
+TWO
@@ -5 +5 @@
-five
+FIVE
"""


def test_an_error_names_the_hunk_that_does_not_apply() -> None:
    assert apply(read_diff(CHANGE)[0], "one\ntwo\n3\n4\nfive\n") == "one\nTWO\n3\n4\nFIVE\n"
    error = refused(CHANGE, "one\ntwo\n3\n4\n5\n")
    assert error.code is ErrorCode.DIFF_NOT_APPLICABLE
    assert error.body.details == {"path": "a.py", "hunk": 2, "line": 5}
    assert refused(CHANGE, "").body.details["hunk"] == 1
    # The text is one line further down than the hunk says.
    assert refused(CHANGE, "0\none\ntwo\n3\n4\nfive\n").body.details["hunk"] == 1


@pytest.mark.parametrize(
    ("head", "paths"),
    [
        ("rename from a.py\nrename to b/c.py\n", ("a.py", "b/c.py")),
        ("new file mode 100644\n--- /dev/null\n+++ b/b/c.py\n@@ -0,0 +1 @@\n+new\n", ("", "b/c.py")),
        ("deleted file mode 100644\n--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n", ("a.py", "")),
    ],
)
def test_a_patch_has_the_path_of_each_side(head, paths) -> None:
    [patch] = read_diff(f"diff --git a/a.py b/b/c.py\n{head}")
    assert (patch.old_path, patch.new_path) == paths


def test_a_name_quoted_by_git_is_decoded() -> None:
    name = '/caf\\303\\251\\t\\"1\\".py"'
    [patch] = read_diff(f'--- "a{name}\n+++ "b{name}\n@@ -1 +1 @@\n-a\n+b\n')
    assert patch.old_path == patch.new_path == 'café\t"1".py'


def test_a_change_of_mode_is_ignored() -> None:
    assert read_diff("diff --git a/a.sh b/a.sh\nold mode 100644\nnew mode 100755\n") == []


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "not a diff\n",
        "@@ -1 +1 @@\n-a\n+b\n",
        "--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n-a\n+b\n",
        "--- a/a\n+++ b/a\n@@ nowhere @@\n-a\n+b\n",
        '--- "a/\\377"\n+++ "b/\\377"\n@@ -1 +1 @@\n-a\n+b\n',
        "diff --git a/a.png b/a.png\nindex 1..2 100644\nBinary files a/a.png and b/a.png differ\n",
    ],
)
def test_text_that_is_not_a_diff_is_refused(diff) -> None:
    assert refused(diff).code is ErrorCode.INVALID_ARGUMENT


def test_a_diff_past_the_file_limit_is_refused() -> None:
    diff = "".join(f"--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-a\n+b\n" for n in range(EDIT_FILES_MAX + 1))
    assert len(read_diff(diff[diff.index("--- a/1\n") :])) == EDIT_FILES_MAX
    assert refused(diff).code is ErrorCode.PAYLOAD_TOO_LARGE


@given(st.text(alphabet="-+@ a1,\n\\", max_size=80))
def test_any_text_is_read_or_refused(diff) -> None:
    with contextlib.suppress(PrismError):
        read_diff(f"--- a/a\n+++ b/a\n{diff}")
