"""Edits by clients."""

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import FileEdit
from prism_ingest.core.edits import check_bases, editable_path

OLD, NEW = "1" * 40, "2" * 40
KNOWN = {"a.py": ManifestEntry(path="a.py", blob=OLD, generation="g", status="indexed")}


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../a",
        "a/../b",
        "./a",
        "a//b",
        "C:/a",
        "a\0b",
        "a\nb",
        "\\a",
        ".git/config",
        "sub/.GIT/x",
        ".git",
    ],
)
def test_paths_outside_the_tree_are_refused(path) -> None:
    with pytest.raises(PrismError) as caught:
        editable_path(path)
    assert caught.value.code is ErrorCode.INVALID_PATH


@pytest.mark.parametrize(
    "path", ["a.py", ".github/workflows/ci.yml", ".gitignore", "a b/ü.py", "...", "a/.git.py"]
)
def test_ordinary_paths_are_accepted(path) -> None:
    assert editable_path(path) == path


@pytest.mark.parametrize(
    ("path", "base", "fits"),
    [
        ("a.py", None, True), ("a.py", OLD, True), ("a.py", NEW, False), ("a.py", "", False),
        ("new.py", None, True), ("new.py", "", True), ("new.py", OLD, False),
    ],
)  # fmt: skip
def test_an_edit_must_be_based_on_the_current_blob(path, base, fits) -> None:
    edits = [FileEdit(path=path, content=b"", base_blob=base)]
    if fits:
        check_bases(edits, KNOWN)
        return
    with pytest.raises(PrismError) as caught:
        check_bases(edits, KNOWN)
    assert caught.value.code is ErrorCode.BASE_MISMATCH
    assert caught.value.body.details["blob"] == (OLD if path == "a.py" else "")
