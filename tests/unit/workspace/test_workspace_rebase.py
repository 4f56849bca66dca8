"""What becomes of paths that both sides changed."""

import pytest

from prism_workspace.core.rebase import (
    PathEntry,
    conflicts,
    in_the_way,
    kept_path,
    original_path,
    parents,
    replayed,
)


def entry(digit: str) -> PathEntry:
    return PathEntry(0o100644, digit * 40)


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("generated/note.md", "generated/note.conflict-aaaaaaaa.md"),
        ("generated/a.b.md", "generated/a.b.conflict-aaaaaaaa.md"),
        ("generated/2026", "generated/2026.conflict-aaaaaaaa"),
        ("note", "note.conflict-aaaaaaaa"),
    ],
)
def test_a_kept_version_is_beside_its_document_and_names_it(path, kept) -> None:
    assert kept_path(path, "a" * 40) == kept
    assert original_path(kept) == path
    assert original_path(path) == ""


def test_a_path_conflicts_if_both_sides_have_something_else_there() -> None:
    ours = {
        "same": entry("1"),
        "other": entry("2"),
        "we delete": None,
        "they delete": entry("3"),
        "ours": entry("4"),
    }
    theirs = {"same": entry("1"), "other": entry("5"), "we delete": entry("6"), "they delete": None}
    assert conflicts(ours, theirs) == ["other"]
    assert replayed(ours, theirs).keys() == {"same", "other", "they delete", "ours"}


def test_files_and_folders_of_one_name_are_in_the_way() -> None:
    assert list(parents("a/b/c.md")) == ["a", "a/b"]
    assert in_the_way({"a/b/c.md": entry("1")}, {"a/b": entry("2")}) == {"a/b"}
    assert in_the_way({"a": entry("1")}, {"a/b": entry("2")}) == {"a"}
    assert in_the_way({"a/b": None}, {"a": entry("2")}) == set()
    assert in_the_way({"a/b": entry("1")}, {"a/c": entry("2")}) == set()
