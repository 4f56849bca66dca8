"""A work tree that is read repeatedly: what is checked out, and what differs from its commit."""

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.checkout import Checkout


@pytest.fixture
def look(repo):
    """Returns the current state of the work tree."""

    def status():
        with Checkout(repo.folder) as checkout:
            return checkout.status()

    return status


def test_a_clean_tree_has_a_commit_and_a_branch_and_no_changes(repo, look):
    commit = repo.commit(**{"a.py": "1\n"})
    assert look() == (commit, "main", {})


def test_before_the_first_commit_there_is_none(repo, look):
    repo.write("a.py")
    repo.git("add", "a.py")
    repo.write("b.py")
    assert look() == ("", "main", {b"a.py": True, b"b.py": True})


def test_a_detached_head_is_on_no_branch(repo, look):
    commit = repo.commit(**{"a.py": "1\n"})
    repo.git("checkout", "--quiet", "--detach")
    assert look() == (commit, "", {})


def test_each_kind_of_change_says_whether_a_file_is_there(repo, look):
    names = ("kept", "edited", "staged", "deleted", "removed", "unlisted", "linked", "old name", "ignored")
    repo.commit(**{f"{name}.py": f"{name}\n" for name in names})
    repo.write("edited.py", "new\n")
    repo.write("staged.py", "new\n")
    repo.git("add", "staged.py")
    (repo.folder / "deleted.py").unlink()
    repo.git("rm", "--quiet", "removed.py")
    repo.git("rm", "--quiet", "--cached", "unlisted.py")
    (repo.folder / "linked.py").unlink()
    (repo.folder / "linked.py").symlink_to("kept.py")
    repo.git("mv", "old name.py", "new name.py")
    repo.write("untracked/ü.py")
    (repo.folder / ".git/info/exclude").write_text("*.log\nignored.py\n")
    repo.write("x.log")
    repo.git("rm", "--quiet", "--cached", "ignored.py")
    assert look().changed == {
        b"edited.py": True,
        b"staged.py": True,
        b"deleted.py": False,
        b"removed.py": False,
        b"unlisted.py": True,
        b"linked.py": False,
        b"old name.py": False,
        b"new name.py": True,
        "untracked/ü.py".encode(): True,
        # Files on the disk that do not belong to the tree.
        b"ignored.py": False,
    }


def test_a_new_mode_is_no_new_content(repo, look):
    repo.commit(**{"a.sh": "1\n"})
    (repo.folder / "a.sh").chmod(0o755)
    assert look().changed == {b"a.sh": True}


def test_a_file_in_conflict_is_there(repo, look):
    repo.commit(**{"a.py": "1\n"})
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit(**{"a.py": "2\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit(**{"a.py": "3\n"})
    with pytest.raises(Exception, match="merge"):
        repo.git("merge", "topic")
    assert look().changed == {b"a.py": True}


def test_repositories_inside_are_not_part_of_it(repo, look, tmp_path):
    repo.commit(**{"a.py": "1\n"})
    inner = repo.folder / "inner"
    inner.mkdir()
    repo.git("init", "--quiet", str(inner))
    repo.write("inner/b.py")
    repo.git("submodule", "--quiet", "add", str(repo.folder), "module")
    assert look().changed == {b".gitmodules": True}


def test_a_folder_of_the_tree_means_the_whole(repo):
    repo.commit(**{"a/b/c.py": "1\n"})
    repo.write("top.py")
    with Checkout(repo.folder / "a/b") as checkout:
        assert checkout.root == repo.folder
        assert checkout.status().changed == {b"top.py": True}


def test_a_linked_tree_has_its_own_branch_and_changes(repo, tmp_path):
    commit = repo.commit(**{"a.py": "1\n"})
    repo.write("a.py", "2\n")
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "--quiet", "-b", "topic", str(linked))
    (linked / "b.py").write_text("3\n")
    with Checkout(linked) as checkout:
        assert checkout.status() == (commit, "topic", {b"b.py": True})
        assert checkout.git_dir == repo.folder / ".git/worktrees/linked"
        assert checkout.blob(checkout.tree(commit)["a.py"]) == b"1\n"


def test_a_tree_is_its_regular_files(repo):
    repo.write("run.sh")
    (repo.folder / "run.sh").chmod(0o755)
    (repo.folder / "link").symlink_to("run.sh")
    commit = repo.commit(**{"a.py": "1\n"})
    with Checkout(repo.folder) as checkout:
        assert set(checkout.tree(commit)) == {"a.py", "run.sh"}
        assert checkout.has(commit)
        assert not checkout.has("0" * 40)
        assert not checkout.has("tree:" + "0" * 64)


def test_git_decides_what_is_ignored(repo):
    repo.commit(**{".gitignore": "*.log\nbuild/\n", "src/.gitignore": "cache\n", "kept.log.py": "1\n"})
    for path in ("build/deep/x.py", "src/cache/y.py", "a.log", "src/a.py"):
        repo.write(path)
    with Checkout(repo.folder) as checkout:
        assert checkout.ignored_folders() == {"build", "src/cache"}
        paths = [str(repo.folder / path) for path in ("a.log", "src/a.py", "build/deep/x.py", "gone.log")]
        assert checkout.ignored(paths) == {paths[0], paths[2], paths[3]}
        assert checkout.ignored([paths[1]]) == set()


@pytest.mark.parametrize("folder", [".", "missing", ".git"])
def test_a_folder_without_a_work_tree_is_refused(tmp_path, repo, folder):
    place = repo.folder / ".git" if folder == ".git" else tmp_path / folder
    with pytest.raises(PrismError) as caught:
        Checkout(place)
    assert caught.value.code is ErrorCode.SOURCE_NOT_FOUND
