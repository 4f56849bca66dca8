"""Recent changes, read from repositories made with the real git."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from prism_source import history as module
from prism_source.folder import snapshot_folder
from prism_source.git import user_environment
from prism_source.gittree import snapshot_git
from prism_source.history import read_history

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def commit(repo):
    """Commits files some days before now."""

    def commit(days: int, message: str, **files: str) -> str:
        for path, content in files.items():
            repo.write(path, content)
        at = (NOW - timedelta(days=days)).isoformat()
        repo.git("add", "--all")
        dates = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        repo.git("commit", "--quiet", "--allow-empty", "--message", message, env=dates)
        return repo.git("rev-parse", "HEAD")

    return commit


def read(folder: Path, head: str = "HEAD", *, is_work_tree: bool = True):
    return read_history(folder, head, user_environment(), is_work_tree=is_work_tree, now=NOW)


def counts_of(history) -> dict[str, tuple[int, int, str]]:
    return {
        file.path: (file.commits_90_days, file.commits_12_months, history.commits[file.last].message)
        for file in history.files
    }


def test_files_have_commit_counts_of_a_quarter_and_a_year(repo, commit) -> None:
    commit(500, "too old", a="0", b="0")
    commit(200, "half a year ago", a="1")
    head = commit(10, "lately\n\nand why", a="2", c="2")
    commit(1, "nothing")
    history = read(repo.folder)
    assert counts_of(history) == {"a": (1, 2, "lately"), "c": (1, 1, "lately")}
    assert [one.message for one in history.commits] == ["lately", "half a year ago"]
    assert head.startswith(history.commits[0].commit)
    assert history.commits[0].at == NOW - timedelta(days=10)
    assert not history.is_shallow
    assert not history.is_cut


def test_the_history_of_a_folder_has_its_relative_paths(repo, commit) -> None:
    commit(3, "first", **{"depot/weigh é.py": "1", "other.py": "1"})
    commit(2, "elsewhere", **{"other.py": "2"})
    assert counts_of(read(repo.folder / "depot")) == {"weigh é.py": (1, 1, "first")}
    assert set(counts_of(read(repo.folder))) == {"depot/weigh é.py", "other.py"}


def test_merges_are_not_counted(repo, commit) -> None:
    commit(9, "first", a="1")
    repo.git("checkout", "--quiet", "-b", "side")
    commit(8, "side", b="1")
    repo.git("checkout", "--quiet", "main")
    commit(7, "main", c="1")
    repo.git("merge", "--quiet", "--no-edit", "side")
    assert counts_of(read(repo.folder)) == {"a": (1, 1, "first"), "b": (1, 1, "side"), "c": (1, 1, "main")}


def test_a_shallow_clone_is_marked_and_its_root_not_counted(repo, commit, tmp_path) -> None:
    commit(9, "first", a="1", b="1")
    commit(8, "second", a="2")
    commit(7, "third", a="3")
    repo.git("clone", "--quiet", "--depth=2", f"file://{repo.folder}", str(tmp_path / "shallow"))
    history = read(tmp_path / "shallow")
    assert counts_of(history) == {"a": (1, 1, "third")}
    assert history.is_shallow
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.folder}", str(tmp_path / "one"))
    assert read(tmp_path / "one") is None


def test_past_the_limit_the_newest_are_kept(repo, commit, monkeypatch) -> None:
    for days in (4, 3, 2):
        commit(days, f"{days} days ago", **{f"{days}.py": "1"})
    monkeypatch.setattr(module, "COMMITS_MAX", 3)
    assert not read(repo.folder).is_cut
    monkeypatch.setattr(module, "COMMITS_MAX", 2)
    history = read(repo.folder)
    assert history.is_cut
    assert set(counts_of(history)) == {"2.py", "3.py"}
    monkeypatch.setattr(module, "COMMITS_MAX", 9)
    monkeypatch.setattr(module, "FILES_MAX", 1)
    history = read(repo.folder)
    assert (history.is_cut, set(counts_of(history))) == (True, {"2.py"})


def test_a_failure_of_git_gives_no_history(repo, commit, tmp_path) -> None:
    assert read(repo.folder) is None  # no commit yet
    commit(1, "first", a="1")
    assert read(repo.folder, "0" * 40) is None
    assert read(tmp_path) is None


def test_a_long_message_is_cut_and_bytes_of_any_kind_are_read(repo, commit) -> None:
    commit(1, "é" * 500, a="1")
    assert read(repo.folder).commits[0].message == "é" * module.MESSAGE_CHARS_MAX


def test_snapshots_carry_the_history(repo) -> None:
    head = repo.commit(a="1")
    with snapshot_folder(repo.folder) as snapshot:
        assert [file.path for file in snapshot.history.files] == ["a"]
    with snapshot_git(repo.folder, head) as snapshot:
        assert [file.path for file in snapshot.history.files] == ["a"]


def test_a_plain_folder_has_no_history(tmp_path) -> None:
    (tmp_path / "a.py").write_text("1")
    with snapshot_folder(tmp_path) as snapshot:
        assert snapshot.history is None
