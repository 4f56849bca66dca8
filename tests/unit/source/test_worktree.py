"""Snapshots of git work trees: git decides which files belong to them; hashes are of the bytes on disk."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_source import files as files_module
from prism_source import git as git_module
from prism_source.folder import snapshot_folder
from prism_source.limits import HEAD_BYTES
from prism_source.snapshot import Snapshot, blob_hash


def by_path(folder: Path) -> dict[str, SkipReason | None]:
    return {file.path: file.skipped for file in snapshot_folder(folder).files}


def refusal(folder: Path) -> PrismError:
    with pytest.raises(PrismError) as caught:
        snapshot_folder(folder)
    assert caught.value.body.next_action
    return caught.value


def assert_hashes_are_of_the_bytes(snapshot: Snapshot) -> None:
    for ordinal, file in enumerate(snapshot.files):
        if not file.skipped:
            assert blob_hash(snapshot.read(ordinal)) == file.blob, file.path


def test_ignored_files_are_excluded_and_untracked_included(repo, git_configuration, tmp_path):
    excludes = tmp_path / "excludes"
    excludes.write_text("*.swp\n")
    repo.git("config", "--global", "core.excludesFile", str(excludes))
    (repo.folder / ".git/info/exclude").write_text("private/\n")
    repo.commit(**{".gitignore": "*.log\n!keep.log\n", "a.py": "1\n", "sub/.gitignore": "*.tmp\n"})
    for path in ("x.log", "keep.log", "sub/x.tmp", "x.tmp", "private/x", "x.swp", "new.py"):
        repo.write(path)
    assert list(by_path(repo.folder)) == [
        ".gitignore",
        "a.py",
        "keep.log",
        "new.py",
        "sub/.gitignore",
        "x.tmp",
    ]


def test_a_tracked_file_is_included_even_if_ignored(repo):
    repo.write("a.log")
    repo.write(".gitignore", "*.log\n")
    repo.git("add", "--force", "--all")
    repo.commit()
    assert "a.log" in by_path(repo.folder)


def test_files_of_a_clean_tree_are_not_read_completely(repo, monkeypatch):
    commit = repo.commit(**{"a.py": "a = 1\n" * 5_000})
    sizes = []
    real_read = files_module.read_regular
    monkeypatch.setattr(
        files_module, "read_regular", lambda path, most: sizes.append(most) or real_read(path, most)
    )
    snapshot = snapshot_folder(repo.folder)
    assert (snapshot.commit, snapshot.ref, snapshot.dirty) == (commit, "main", False)
    assert sizes == [HEAD_BYTES]
    assert_hashes_are_of_the_bytes(snapshot)


@pytest.mark.parametrize(
    "change",
    [
        lambda repo: repo.write("a.py", "changed\n"),
        lambda repo: (repo.folder / "a.py").unlink(),
        lambda repo: repo.write("new.py"),
        lambda repo: repo.write("a.py", "staged\n") and repo.git("add", "a.py"),
        lambda repo: repo.git("rm", "--cached", "--quiet", "a.py"),
        lambda repo: repo.git("add", "--intent-to-add", str(repo.write("later.py"))),
    ],
    ids=["modified", "deleted", "untracked", "staged", "removed", "intent"],
)
def test_a_changed_tree_is_dirty_and_its_hashes_are_right(repo, change):
    commit = repo.commit(**{"a.py": "a\n", "b.py": "b\n"})
    change(repo)
    snapshot = snapshot_folder(repo.folder)
    assert (snapshot.commit, snapshot.dirty) == (commit, True)
    assert_hashes_are_of_the_bytes(snapshot)
    on_disk = {str(path.relative_to(repo.folder)) for path in repo.folder.glob("*.py")}
    assert {file.path for file in snapshot.files} == on_disk


def test_new_time_stamps_alone_do_not_make_a_tree_dirty(repo):
    repo.commit(**{"a.py": "a\n", "b.txt": "b\n"})
    os.utime(repo.folder / "a.py", (1, 1))
    index = (repo.folder / ".git/index").read_bytes()
    snapshot = snapshot_folder(repo.folder)
    assert not snapshot.dirty
    assert_hashes_are_of_the_bytes(snapshot)
    assert (repo.folder / ".git/index").read_bytes() == index, "nothing is written"


def test_a_change_marked_unchanged_in_git_has_the_right_hash(repo):
    repo.commit(**{"a.py": "a\n", "b.py": "b\n"})
    repo.git("update-index", "--assume-unchanged", "a.py")
    repo.git("update-index", "--skip-worktree", "b.py")
    repo.write("a.py", "changed\n")
    repo.write("b.py", "changed\n")
    assert_hashes_are_of_the_bytes(snapshot_folder(repo.folder))


def test_a_sparse_checkout_has_the_files_on_disk(repo):
    repo.commit(**{"in/a.py": "a\n", "out/b.py": "b\n"})
    repo.git("sparse-checkout", "set", "in")
    assert list(by_path(repo.folder)) == ["in/a.py"]


def test_a_folder_of_a_repository_is_read_alone(repo):
    commit = repo.commit(
        **{"a.py": "a\n", "sub/b.py": "b\n", "sub/deep/c.py": "c\n", ".gitignore": "*.log\n"}
    )
    repo.write("sub/x.log")
    repo.write("outside.py")
    snapshot = snapshot_folder(repo.folder / "sub")
    assert [file.path for file in snapshot.files] == ["b.py", "deep/c.py"]
    assert (snapshot.commit, snapshot.ref, snapshot.dirty) == (commit, "main", False)
    assert_hashes_are_of_the_bytes(snapshot)
    repo.write("sub/b.py", "changed\n")
    (repo.folder / "sub/deep/c.py").unlink()
    snapshot = snapshot_folder(repo.folder / "sub")
    assert snapshot.dirty
    assert [file.path for file in snapshot.files] == ["b.py"]
    assert_hashes_are_of_the_bytes(snapshot)


def test_an_ignored_folder_is_read_as_a_plain_folder(repo):
    repo.commit(**{".gitignore": "build/\n"})
    repo.write("build/.gitignore", "*.o\n")
    repo.write("build/a.py")
    repo.write("build/a.o")
    snapshot = snapshot_folder(repo.folder / "build")
    assert [file.path for file in snapshot.files] == [".gitignore", "a.py"]
    assert snapshot.commit.startswith("tree:")


def test_linked_work_trees_and_detached_heads_are_read(repo, tmp_path):
    first = repo.commit(**{"a.py": "1\n"})
    repo.commit(**{"a.py": "2\n"})
    repo.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "other"))
    assert snapshot_folder(tmp_path / "other").ref == "topic"
    repo.git("checkout", "--quiet", first)
    snapshot = snapshot_folder(repo.folder)
    assert (snapshot.commit, snapshot.ref, snapshot.dirty) == (first, "", False)


def test_a_repository_without_a_commit_has_files_but_no_commit(repo):
    repo.write("a.py")
    snapshot = snapshot_folder(repo.folder)
    assert snapshot.commit.startswith("tree:")
    assert (snapshot.ref, snapshot.dirty, len(snapshot.files)) == ("main", True, 1)


def test_an_empty_repository_is_refused(repo):
    assert refusal(repo.folder).code is ErrorCode.SOURCE_EMPTY


def test_the_inside_of_a_repository_is_refused(repo, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    for folder in (tmp_path / "bare.git", repo.folder / ".git", repo.folder / ".git/objects"):
        error = refusal(folder)
        assert error.code is ErrorCode.SOURCE_EMPTY
        assert "bare" in str(error)


def test_submodules_and_nested_repositories_are_listed(repo, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    for command in (("init", "--quiet"), ("commit", "--quiet", "--allow-empty", "-m", "x")):
        subprocess.run(["git", *command], cwd=inner, check=True)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "linked")
    repo.commit()
    shutil.copytree(inner, repo.folder / "nested")
    (repo.folder / "nested/a.py").write_text("x")
    found = by_path(repo.folder)
    assert found == {".gitmodules": None, "linked": SkipReason.SUBMODULE, "nested": SkipReason.SUBMODULE}


def test_links_and_pipes_are_listed_and_never_followed(repo):
    repo.write("real/a.py")
    (repo.folder / "tracked").symlink_to("real")
    repo.commit(**{"b.py": "b\n"})
    (repo.folder / "loop").symlink_to(".")
    (repo.folder / "b.py").unlink()
    os.mkfifo(repo.folder / "b.py")
    found = by_path(repo.folder)
    expected = {"tracked": SkipReason.SYMLINK, "loop": SkipReason.SYMLINK, "real/a.py": None}
    assert {path: reason for path, reason in found.items() if path != "b.py"} == expected
    assert found.get("b.py") in (None, SkipReason.SPECIAL)


def test_a_folder_replaced_by_a_link_is_not_entered(repo, tmp_path):
    repo.commit(**{"sub/a.py": "a\n"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.py").write_text("secret")
    shutil.rmtree(repo.folder / "sub")
    (repo.folder / "sub").symlink_to(elsewhere)
    assert by_path(repo.folder) == {"sub": SkipReason.SYMLINK}


def test_unusual_names_are_read(repo):
    names = [b"caf\xe9.py", b"a\nb.py", b"with space.py", "ü.py".encode(), b'quote".py', b"tab\t.py"]
    for name in names[:3]:
        Path(os.fsdecode(os.fsencode(repo.folder) + b"/" + name)).write_text("x")
    repo.commit()
    for name in names[3:]:
        Path(os.fsdecode(os.fsencode(repo.folder) + b"/" + name)).write_text("x")
    found = by_path(repo.folder)
    assert {path for path, reason in found.items() if reason is None} == {
        "with space.py",
        "ü.py",
        'quote".py',
    }
    assert {path for path, reason in found.items() if reason} == {"caf\\xe9.py", "a\\x0ab.py", "tab\\x09.py"}


def test_a_file_in_conflict_is_listed_once_as_on_disk(repo):
    repo.commit(**{"a.py": "base\n"})
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit(**{"a.py": "topic\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit(**{"a.py": "main\n"})
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "topic")
    snapshot = snapshot_folder(repo.folder)
    assert [file.path for file in snapshot.files] == ["a.py"]
    assert snapshot.dirty
    assert_hashes_are_of_the_bytes(snapshot)


@pytest.mark.parametrize(
    ("attributes", "autocrlf"),
    [
        ("", "true"),
        ("", "input"),
        ("* text=auto\n", ""),
        ("*.txt text eol=crlf\n", ""),
        ("* -text\n", "true"),
    ],
)
def test_converted_line_ends_are_hashed_as_on_disk(repo, attributes, autocrlf):
    if autocrlf:
        repo.git("config", "core.autocrlf", autocrlf)
    repo.git("config", "core.safecrlf", "false")
    repo.commit(**{".gitattributes": attributes or "\n", "dos.txt": "a\r\nb\r\n", "unix.txt": "a\nb\n"})
    assert_hashes_are_of_the_bytes(snapshot_folder(repo.folder))
    for name in ("dos.txt", "unix.txt"):
        (repo.folder / name).unlink()
    repo.git("checkout", "--", ".")
    snapshot = snapshot_folder(repo.folder)
    assert_hashes_are_of_the_bytes(snapshot)
    assert not snapshot.dirty
    os.utime(repo.folder / "dos.txt", (1, 1))
    os.utime(repo.folder / "unix.txt", (1, 1))
    snapshot = snapshot_folder(repo.folder)
    assert_hashes_are_of_the_bytes(snapshot)
    assert not snapshot.dirty


def test_filtered_files_are_hashed_as_on_disk(repo):
    repo.git("config", "filter.rot.clean", "tr a-z b-za")
    repo.git("config", "filter.rot.smudge", "tr b-za a-z")
    files = {"a.rot": "abc\n", "id.txt": "$Id$\n", "wide.txt": "text\n"}
    attributes = "*.rot filter=rot\nid.txt ident\n"
    repo.commit(**{".gitattributes": attributes, **files})
    for name in files:
        (repo.folder / name).unlink()
    repo.git("checkout", "--", ".")
    snapshot = snapshot_folder(repo.folder)
    assert (repo.folder / "id.txt").read_text() != "$Id$\n"
    assert_hashes_are_of_the_bytes(snapshot)
    assert not snapshot.dirty


def test_attributes_apply_in_both_directions(repo):
    repo.commit(
        **{
            ".gitattributes": "*.gen linguist-generated linguist-language=Go\n",
            "vendor/.gitattributes": "mine.c -linguist-vendored\n",
            "a.gen": "x\n",
            "vendor/mine.c": "x\n",
            "vendor/theirs.c": "x\n",
        }
    )
    found = {file.path: file for file in snapshot_folder(repo.folder).files}
    assert found["a.gen"].flags.generated
    assert found["a.gen"].language == "go"
    assert not found["vendor/mine.c"].flags.vendored
    assert found["vendor/theirs.c"].flags.vendored


def test_git_variables_of_a_hook_are_ignored(repo, tmp_path, monkeypatch):
    commit = repo.commit(**{"a.py": "1\n"})
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert snapshot_folder(repo.folder).commit == commit


def test_programs_named_by_the_repository_do_not_run(repo, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(script))
    repo.write("a.py", "2\n")
    snapshot_folder(repo.folder)
    assert not (tmp_path / "ran").exists()


def test_a_missing_git_is_an_error_with_a_next_action(repo, monkeypatch):
    repo.commit(**{"a.py": "1\n"})
    monkeypatch.setenv("PATH", "/nowhere")
    error = refusal(repo.folder)
    assert error.code is ErrorCode.SOURCE_UNREADABLE
    assert "install git" in error.body.next_action.lower()


def test_a_plain_folder_needs_no_git(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("1")
    monkeypatch.setenv("PATH", "/nowhere")
    assert by_path(tmp_path) == {"a.py": None}


def test_a_repository_of_another_user_is_an_error(repo, monkeypatch):
    repo.commit(**{"a.py": "1\n"})

    def dubious(*_arguments, **_options):
        raise git_module.GitFailed("fatal: detected dubious ownership in repository at '/x'")

    monkeypatch.setattr("prism_source.worktree.run_git", dubious)
    error = refusal(repo.folder)
    assert error.code is ErrorCode.SOURCE_UNREADABLE
    assert "safe.directory" in error.body.next_action


def test_a_damaged_repository_is_an_error(repo):
    repo.commit(**{"a.py": "1\n"})
    (repo.folder / ".git/index").write_bytes(b"garbage")
    assert refusal(repo.folder).code is ErrorCode.SOURCE_UNREADABLE


def test_an_invalid_git_folder_is_ignored(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("1")
    assert by_path(tmp_path) == {"a.py": None}


def test_a_slow_git_is_stopped(repo, tmp_path, monkeypatch):
    repo.commit(**{"a.py": "1\n"})
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    with pytest.raises(PrismError) as caught:
        git_module.run_git(repo.folder, "status", environment=git_module.user_environment(), seconds_max=0.2)
    assert caught.value.code is ErrorCode.DEADLINE_EXCEEDED
