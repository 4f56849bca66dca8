"""Differences between a work tree and files known by hash."""

import pytest

from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_source.checkout import Checkout
from prism_source.edits import Comparison, EditLimits, WorkTreeEdits
from prism_source.limits import DEFAULT_LIMITS, SourceLimits
from prism_source.snapshot import blob_hash

ROOM = EditLimits(files_max=100, bytes_max=10_000)


@pytest.fixture
def edits_over(repo):
    """Returns the edits over files given as `path=content`, or over those of a commit."""

    def edits(served, room=ROOM, limits=DEFAULT_LIMITS) -> WorkTreeEdits:
        with Checkout(repo.folder, limits) as checkout:
            if isinstance(served, str):
                blobs = checkout.tree(served)
            else:
                blobs = {path: blob_hash(content.encode()) for path, content in served.items()}
            return Comparison(checkout, blobs, room).edits(checkout.status())

    return edits


def test_a_clean_tree_of_the_served_commit_has_no_edits(repo, edits_over):
    assert edits_over(repo.commit(**{"a.py": "1\n", "b/c.py": "2\n"})) == ({}, {})


def test_unserved_commits_and_uncommitted_changes_combine(repo, edits_over):
    served = repo.commit(**{"a.py": "1\n", "b.py": "1\n", "c.py": "1\n", "d.py": "1\n"})
    repo.git("rm", "--quiet", "d.py")
    repo.commit(**{"a.py": "2\n", "b.py": "2\n"})
    repo.write("b.py", "3\n")
    repo.write("new.py", "new\n")
    (repo.folder / "c.py").unlink()
    assert edits_over(served).contents == {
        "a.py": b"2\n",
        "b.py": b"3\n",
        "c.py": None,
        "d.py": None,
        "new.py": b"new\n",
    }


def test_an_older_checkout_reverts_the_served_commit(repo, edits_over):
    old = repo.commit(**{"a.py": "1\n"})
    served = repo.commit(**{"a.py": "2\n", "b.py": "1\n"})
    repo.git("checkout", "--quiet", old)
    assert edits_over(served).contents == {"a.py": b"1\n", "b.py": None}


def test_an_edit_back_to_the_served_content_is_none(repo, edits_over):
    served = repo.commit(**{"a.py": "1\n"})
    repo.commit(**{"a.py": "2\n"})
    repo.write("a.py", "1\n")
    assert edits_over(served) == ({}, {})


def test_reverted_uncommitted_changes_are_undone(repo, edits_over):
    repo.commit(**{"a.py": "1\n", "b.py": "1\n"})
    repo.write("b.py", "same\n")
    served = {"a.py": "edited\n", "b.py": "same\n", "gone.py": "untracked\n"}
    assert edits_over(served).contents == {"a.py": b"1\n", "gone.py": None}


def test_before_the_first_commit_everything_is_new(repo, edits_over):
    repo.write("a.py", "1\n")
    assert edits_over({"b.py": "1\n"}).contents == {"a.py": b"1\n", "b.py": None}


def test_ignored_files_are_never_sent(repo, edits_over):
    served = repo.commit(**{"a.py": "1\n", "b.py": "1\n", ".gitignore": "*.key\n"})
    repo.write("private.key", "secret\n")
    repo.git("rm", "--quiet", "--cached", "b.py")
    (repo.folder / ".git/info/exclude").write_text("b.py\n")
    assert edits_over(served).contents == {"b.py": None}


def test_a_changed_mode_alone_is_no_edit(repo, edits_over):
    served = repo.commit(**{"a.sh": "1\n"})
    (repo.folder / "a.sh").chmod(0o755)
    assert edits_over(served) == ({}, {})


def test_changed_files_keep_the_line_ends_on_disk(repo, edits_over):
    repo.git("config", "core.autocrlf", "true")
    served = repo.commit(**{"a.py": "1\n2\n", "b.py": "1\n2\n"})
    # As a checkout on Windows leaves it: other bytes, and nothing to commit.
    repo.write("a.py", "1\r\n2\r\n")
    repo.write("b.py", "1\r\n3\r\n")
    repo.git("add", "a.py")
    assert edits_over(served).contents == {"b.py": b"1\r\n3\r\n"}


def test_a_link_that_replaces_a_file_is_not_followed(repo, edits_over, tmp_path):
    served = repo.commit(**{"a.py": "1\n"})
    (tmp_path / "outside.py").write_text("outside\n")
    (repo.folder / "a.py").unlink()
    (repo.folder / "a.py").symlink_to(tmp_path / "outside.py")
    (repo.folder / "b.py").symlink_to(tmp_path / "outside.py")
    assert edits_over(served).contents == {"a.py": None}


def test_a_file_behind_a_link_to_a_folder_is_gone(repo, edits_over, tmp_path):
    served = repo.commit(**{"src/a.py": "1\n"})
    (repo.folder / "src").rename(tmp_path / "outside")
    (repo.folder / "src").symlink_to(tmp_path / "outside")
    assert edits_over(served).contents == {"src/a.py": None}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\0\0", SkipReason.BINARY),
        (b"x" * 3_000 + b"\n", SkipReason.TOO_LARGE),
        (b"y" * 900 + b"\n", SkipReason.LINE_TOO_LONG),
        (b"version https://git-lfs.github.com/spec/v1\n", SkipReason.LFS_POINTER),
    ],
)
@pytest.mark.parametrize("is_committed", [True, False])
def test_a_file_that_became_binary_is_removed(repo, edits_over, content, reason, is_committed):
    served = repo.commit(**{"a.py": "1\n"})
    repo.write("a.py", content)
    repo.write("new.bin", content)
    if is_committed:
        repo.commit()
    found = edits_over(served, limits=SourceLimits(file_bytes_max=2_000, line_bytes_max=800))
    assert found == ({"a.py": None}, {"a.py": reason, "new.bin": reason})


def test_a_folder_replaces_a_file(repo, edits_over):
    served = repo.commit(**{"a.py": "1\n"})
    (repo.folder / "a.py").unlink()
    (repo.folder / "a.py").mkdir()
    repo.write("a.py/b.py", "2\n")
    assert edits_over(served).contents == {"a.py": None, "a.py/b.py": b"2\n"}


def test_a_file_outside_a_sparse_checkout_is_unchanged(repo, edits_over):
    served = repo.commit(**{"a.py": "1\n", "far/b.py": "1\n"})
    repo.commit(**{"far/b.py": "2\n"})
    repo.git("sparse-checkout", "set", "--no-cone", "/a.py")
    assert not (repo.folder / "far").exists()
    assert edits_over(served).contents == {"far/b.py": b"2\n"}


def test_a_name_that_is_not_a_path_is_skipped(repo, edits_over):
    served = repo.commit(**{"a.py": "1\n"})
    repo.write("line\nend.py")
    assert edits_over(served) == ({}, {"line\\x0aend.py": SkipReason.PATH_INVALID})


def test_limits_apply_to_committed_and_uncommitted_edits(repo, edits_over):
    repo.commit(**{f"{number}.py": "12345\n" for number in range(3)})
    assert len(edits_over({}, EditLimits(3, 18)).contents) == 3
    repo.write("new.py", "")
    for room, name in (
        (EditLimits(2, 100), "files_max"),
        (EditLimits(3, 100), "files_max"),
        (EditLimits(9, 17), "bytes_max"),
    ):
        with pytest.raises(PrismError) as caught:
            edits_over({}, room)
        assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE
        assert name in caught.value.body.details


def test_a_comparison_follows_the_checkout(repo):
    served = repo.commit(**{"a.py": "1\n"})
    with Checkout(repo.folder) as checkout:
        comparison = Comparison(checkout, checkout.tree(served), ROOM)
        assert comparison.edits(checkout.status()).contents == {}
        repo.write("a.py", "2\n")
        assert comparison.edits(checkout.status()).contents == {"a.py": b"2\n"}
        repo.commit(**{"b.py": "3\n"})
        assert comparison.edits(checkout.status()).contents == {"a.py": b"2\n", "b.py": b"3\n"}
        repo.git("checkout", "--quiet", served)
        assert comparison.edits(checkout.status()).contents == {}
