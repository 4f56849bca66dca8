"""Diffs as git prints them, and invalid ones."""

from difflib import unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_atlas.core.diffs import DIFF_CHARS_MAX, applies_to, read_diff
from prism_contracts.errors import ErrorCode, PrismError

GIT = """diff --git a/depot.py b/dock.py
similarity index 90%
rename from depot.py
rename to dock.py
index 1111111..2222222 100644
--- a/depot.py
+++ b/dock.py
@@ -1,4 +1,4 @@
 import rates
-RATE = 1
+RATE = 2
 TAX = 3
 def ship():
@@ -9 +9,3 @@ def ship():
     return rates
+
+    close()
diff --git a/truck.png b/truck.png
index 1111111..2222222
Binary files a/truck.png and b/truck.png differ
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+one
+two
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-one
diff --git "a/na\\303\\257f.py" "b/na\\303\\257f.py"
--- "a/na\\303\\257f.py"
+++ "b/na\\303\\257f.py"
@@ -5 +4,0 @@
-gone
diff --git a/same.py b/moved.py
similarity index 100%
rename from same.py
rename to moved.py
"""


def test_each_file_has_its_paths_and_hunks():
    renamed, binary, new, old, unusual, moved = read_diff(GIT)
    assert [(file.before, file.after) for file in (renamed, binary, new, old, unusual, moved)] == [
        ("depot.py", "dock.py"),
        ("truck.png", "truck.png"),
        ("", "new.py"),
        ("old.py", ""),
        ("naïf.py", "naïf.py"),
        ("same.py", "moved.py"),
    ]
    assert [file.binary for file in (renamed, binary)] == [False, True]
    replaced, added = renamed.changes
    assert (replaced.before.changed, replaced.before.gaps) == ((2,), ())
    assert (replaced.after.changed, replaced.after.gaps) == ((2,), ())
    assert (added.before.changed, added.before.gaps) == ((), ((9, 4),))
    assert added.after.changed == (11,)  # blank lines change nothing
    assert new.changes[0].before == (1, (), (), ((0, 0),))
    assert new.changes[0].after == (1, ("one", "two"), (1, 2), ())
    assert old.changes[0].before == (1, ("one",), (1,), ())
    assert unusual.changes[0].after.gaps == ((4, 0),)
    assert moved.changes == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", ErrorCode.INVALID_ARGUMENT),
        ("ship the parcels", ErrorCode.INVALID_ARGUMENT),
        ("@@ -1 +1 @@\n-a\n+b\n", ErrorCode.INVALID_ARGUMENT),
        ("--- a/depot.py\n+++ b/depot.py\n@@ -1,5 +1,5 @@\n-a\n+b\n", ErrorCode.INVALID_ARGUMENT),
        ("--- a/../depot.py\n+++ b/../depot.py\n@@ -1 +1 @@\n-a\n+b\n", ErrorCode.INVALID_PATH),
        ("--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", ErrorCode.INVALID_PATH),
        ("+" * (DIFF_CHARS_MAX + 1), ErrorCode.PAYLOAD_TOO_LARGE),
    ],
)
def test_invalid_diff_is_refused(text, code):
    with pytest.raises(PrismError) as error:
        read_diff(text)
    assert error.value.code is code
    assert error.value.body.next_action


lines = st.lists(st.sampled_from(["a", "b", "c", "d e"]), max_size=12)


@given(lines, lines, st.integers(0, 3))
def test_each_side_of_a_hunk_matches_its_file(before, after, context):
    ended = [[f"{line}\n" for line in text] for text in (before, after)]
    text = "".join(unified_diff(*ended, "a/depot", "b/depot", n=context))
    if not text:
        return
    (file,) = read_diff(text)
    for change in file.changes:
        assert applies_to(change.before, before)
        assert applies_to(change.after, after)
        kept = [
            [text for number, text in enumerate(side.texts, side.start) if number not in side.changed]
            for side in change
        ]
        assert kept[0] == kept[1]
        assert any(side.changed for side in change)
