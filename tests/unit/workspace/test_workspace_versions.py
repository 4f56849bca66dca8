import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from prism_workspace.core import versions

NAME = "generated/a.md"


def applied(folder: Path, base: str, diff: str) -> str:
    """Returns the text to which git changes the base by a diff."""
    file = folder / NAME
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(base.encode())
    subprocess.run(["git", "apply", "-"], cwd=folder, input=diff.encode(), check=True)
    return file.read_bytes().decode()


def test_equal_texts_have_no_diff() -> None:
    assert versions.unified_diff(NAME, "One.\n", "One.\n") == ""


def test_a_changed_line_is_shown_with_those_around_it() -> None:
    base = "".join(f"{number}\n" for number in range(1, 10))
    assert versions.unified_diff(NAME, base, base.replace("5\n", "five\n")) == (
        f"--- a/{NAME}\n+++ b/{NAME}\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


@settings(max_examples=25, deadline=None)
@given(
    lines=st.lists(st.sampled_from(["a", "b", "", "c\u2028d", "e\r"]), min_size=1, max_size=30),
    others=st.lists(st.sampled_from(["a", "b", "", "f"]), min_size=1, max_size=30),
    compared_max=st.sampled_from([0, 5, versions.LINES_COMPARED_MAX]),
)
def test_git_applies_every_diff(tmp_path_factory, lines, others, compared_max) -> None:
    base, text = "\n".join(["first", *lines]), "\n".join(["first", *others, "last\n"])
    normal, versions.LINES_COMPARED_MAX = versions.LINES_COMPARED_MAX, compared_max
    try:
        diff = versions.unified_diff(NAME, base, text)
    finally:
        versions.LINES_COMPARED_MAX = normal
    assert applied(tmp_path_factory.mktemp("git"), base, diff) == text
