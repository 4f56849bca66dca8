import subprocess
from pathlib import Path

import pytest
from git_repos import Repo

from prism_cli.exits import CommandError, Exit
from prism_cli.index.naming import (
    branch_of,
    check_name,
    git_dir_of,
    is_git_url,
    name_of_folder,
    name_of_url,
    slug,
)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/psf/requests", "psf/requests"),
        ("https://github.com/psf/requests.git", "psf/requests"),
        ("https://user:token@github.com/psf/requests.git/", "psf/requests"),
        ("git@github.com:psf/requests.git", "psf/requests"),
        ("github.com:psf/requests", "psf/requests"),
        ("ssh://git@host:2222/group/sub/project.git", "sub/project"),
        ("https://host/a b/c~d", "a-b/c-d"),
        ("https://host/only.git", ""),
        ("https://host/", ""),
        ("/srv/git/project.git", ""),
        ("file:///srv/git/project.git", "git/project"),
    ],
)
def test_name_of_url(url: str, name: str):
    assert name_of_url(url) == name


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("https://github.com/psf/requests", True),
        ("git@github.com:psf/requests.git", True),
        ("ssh://host/x/y", True),
        ("file:///etc", True),
        ("ext::sh -c id", True),
        (".", False),
        ("src/missing", False),
        ("/absolutely/missing", False),
        ("C:\\code", False),
    ],
)
def test_is_git_url(source: str, expected: bool):
    assert is_git_url(source) is expected


def test_a_folder_that_looks_like_an_address_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "host:name").mkdir()
    monkeypatch.chdir(tmp_path)
    assert not is_git_url("host:name")


def test_a_plain_folder_is_local(tmp_path: Path):
    folder = tmp_path / "My notes (2)"
    folder.mkdir()
    assert name_of_folder(folder) == "local/My-notes-2"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)


def test_only_the_root_of_a_work_tree_has_its_origins_name(tmp_path: Path):
    git(tmp_path, "init", "-q")
    git(tmp_path, "remote", "add", "origin", "git@github.com:psf/requests.git")
    (tmp_path / "src").mkdir()
    assert name_of_folder(tmp_path) == "psf/requests"
    assert name_of_folder(tmp_path / "src") == "local/src"


def test_an_origin_on_this_machine_gives_no_name(tmp_path: Path):
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    assert name_of_folder(folder) == "local/clone"
    git(folder, "remote", "add", "origin", str(tmp_path / "source"))
    assert name_of_folder(folder) == "local/clone"


@pytest.mark.parametrize(
    ("text", "expected"), [("..", "folder"), ("", "folder"), ("é", "folder"), ("-a.b_c-", "a.b_c")]
)
def test_slug(text: str, expected: str):
    assert slug(text) == expected


@pytest.mark.parametrize("name", ["", "a/b", "A.b_c-1/.github"])
def test_names(name: str):
    check_name(name)


@pytest.mark.parametrize("name", ["a", "a/", "/b", "a/b/c", "a b/c", "../..\n", "é/b"])
def test_invalid_name_is_wrong_usage(name: str):
    with pytest.raises(CommandError) as caught:
        check_name(name)
    assert caught.value.exit_code is Exit.USAGE


def test_the_branches_of_a_linked_work_tree_are_elsewhere(tmp_path: Path):
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "m")
    git(main, "worktree", "add", "-q", str(linked))
    assert git_dir_of(main) == main
    assert git_dir_of(linked) == (main / ".git").resolve()


def test_linked_work_tree_has_the_name_of_the_main_one(repo: Repo, tmp_path: Path):
    repo.commit()
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert name_of_folder(tmp_path / "linked") == "local/repo"
    repo.git("remote", "add", "origin", "git@github.com:psf/requests.git")
    assert name_of_folder(tmp_path / "linked") == "psf/requests"


def test_the_branch_is_that_of_the_work_tree(repo: Repo, tmp_path: Path):
    repo.commit(**{"src/a.py": "1\n"})
    repo.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "linked"))
    assert (branch_of(repo.folder), branch_of(tmp_path / "linked")) == ("main", "topic")
    assert branch_of(repo.folder / "src") == ""
    repo.git("checkout", "--quiet", "--detach")
    assert branch_of(repo.folder) == ""
