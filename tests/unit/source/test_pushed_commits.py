"""The commits of a push, read from repositories made with the real git."""

from pathlib import Path

import pytest

from prism_contracts.types import COMMIT_MESSAGE_CHARS_MAX
from prism_source import pushed_commits as module
from prism_source.folder import snapshot_folder
from prism_source.pushed_commits import checked_out_commits, pushed_commits


@pytest.fixture
def commit(repo):
    def commit(message: str) -> str:
        repo.git("commit", "--quiet", "--allow-empty", "--message", message)
        return repo.git("rev-parse", "HEAD")

    return commit


def messages(repo, before: str, head: str) -> list[str]:
    return [one.message.rstrip("\n") for one in pushed_commits(repo.folder / ".git", before, head)]


def test_a_push_has_the_commits_since_the_last_one_oldest_first(repo, commit) -> None:
    before = commit("first")
    second, head = commit("second\n\nTask: 7c0d5a54"), commit("third")
    found = pushed_commits(repo.folder / ".git", before, head)
    assert [one.commit for one in found] == [second, head]
    assert [one.message for one in found] == ["second\n\nTask: 7c0d5a54\n", "third\n"]
    assert pushed_commits(repo.folder / ".git", head, head) == ()


def test_a_merge_brings_the_commits_of_its_branch(repo, commit) -> None:
    before = commit("first")
    repo.git("checkout", "--quiet", "-b", "side")
    commit("on the side")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--message", "merged", "side")
    assert messages(repo, before, "main") == ["on the side", "merged"]


def test_after_a_forced_push_whose_old_commit_is_gone_only_the_head_is_new(repo, commit) -> None:
    commit("first")
    head = commit("second")
    for gone in ("0" * 40, "", "tree:abc", "--all"):
        assert messages(repo, gone, head) == ["second"]


def test_the_newest_are_kept_and_a_long_message_is_cut(repo, commit, monkeypatch) -> None:
    before = commit("first")
    for message in ("second", "third", "é" * (COMMIT_MESSAGE_CHARS_MAX + 1)):
        head = commit(message)
    monkeypatch.setattr(module, "PUSHED_COMMITS_MAX", 2)
    assert messages(repo, before, head) == ["third", "é" * COMMIT_MESSAGE_CHARS_MAX]


def test_a_failure_of_git_gives_no_commit(repo, commit, tmp_path: Path) -> None:
    head = commit("first")
    assert messages(repo, head, "0" * 40) == []
    assert pushed_commits(tmp_path, head, head) == ()


def test_a_work_tree_has_its_newest_commits_oldest_first(repo, commit, monkeypatch, tmp_path: Path) -> None:
    repo.write("a.py", "A = 1\n")
    commits = [commit(message) for message in ("first", "second", "third")]
    assert [one.commit for one in checked_out_commits(repo.folder, "HEAD")] == commits
    with snapshot_folder(repo.folder) as snapshot:
        assert [one.commit for one in snapshot.commits] == commits
    monkeypatch.setattr(module, "PUSHED_COMMITS_MAX", 2)
    assert [one.commit for one in checked_out_commits(repo.folder, "HEAD")] == commits[1:]
    assert checked_out_commits(tmp_path, "HEAD") == ()
