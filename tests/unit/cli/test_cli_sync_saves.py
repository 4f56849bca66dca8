"""Saves in a work tree are reported, on the real file system and with the real git."""

from collections.abc import Iterator

import pytest
from git_repos import Repo

from prism_cli.sync.saves import Saves, watched_folders
from prism_source.checkout import Checkout

SECONDS_MAX = 20.0
GITIGNORE = "*.log\nbuild/\n"


@pytest.fixture
def saves(repo: Repo) -> Iterator[Saves]:
    repo.commit(**{".gitignore": GITIGNORE, "src/a.py": "1\n"})
    with Checkout(repo.folder) as checkout, Saves(checkout) as watching:
        yield watching


def folders(repo: Repo) -> set[str]:
    with Checkout(repo.folder) as checkout:
        return {folder.removeprefix(str(repo.folder)) for folder in watched_folders(checkout)}


def test_ignored_folders_and_nested_repositories_are_not_watched(repo: Repo):
    repo.commit(**{".gitignore": "node_modules/\n/dist\n", "src/a.py": "1\n"})
    for path in ("node_modules/x/y/z.js", "dist/deep/a.js", "src/dist/a.js", "inner/b.py", "empty/keep"):
        repo.write(path)
    (repo.folder / "empty/keep").unlink()
    repo.git("init", "--quiet", str(repo.folder / "inner"))
    assert folders(repo) == {"", "/src", "/src/dist", "/empty"}


def test_saved_file_is_reported(repo: Repo, saves: Saves):
    repo.write("src/a.py", "2\n")
    assert saves.wait(SECONDS_MAX)


def test_file_in_a_new_folder_is_reported(repo: Repo, saves: Saves):
    (repo.folder / "new/deep").mkdir(parents=True)
    assert saves.wait(SECONDS_MAX)
    repo.write("new/deep/a.py")
    assert saves.wait(SECONDS_MAX)


def test_a_folder_that_is_no_longer_ignored_is_watched(repo: Repo, saves: Saves):
    repo.write("build/a.py")
    repo.write(".gitignore", "")
    assert saves.wait(SECONDS_MAX)
    repo.write("build/a.py", "2\n")
    assert saves.wait(SECONDS_MAX)


def test_checkout_without_file_changes_is_reported(repo: Repo, saves: Saves):
    repo.git("checkout", "--quiet", "-b", "topic")
    assert saves.wait(SECONDS_MAX)


@pytest.mark.parametrize(
    ("paths", "is_news"),
    [
        (["src/a.py"], True),
        (["src/gone.py"], True),
        (["x.log", "build/deep/y.py"], False),
        (["x.log", "src/a.py"], True),
        ([".git"], False),
        ([".git/index.lock", ".git/COMMIT_EDITMSG"], False),
        ([".git/index"], True),
        ([".git/HEAD"], True),
    ],
)
def test_ignored_files_and_git_internals_are_not_reported(
    repo: Repo, saves: Saves, paths: list[str], is_news: bool
):
    assert saves._is_news([str(repo.folder / path) for path in paths]) is is_news


def test_a_zero_timeout_does_not_wait(saves: Saves):
    assert saves.wait(0.0) is False


def test_end_wakes_a_waiting_thread(saves: Saves):
    saves.end()
    assert saves.wait(SECONDS_MAX) is False
