"""A repository made with the real git, as on a fresh machine."""

from pathlib import Path

import pytest
from git_repos import Repo, fresh_git, new_repo


@pytest.fixture(autouse=True)
def git_configuration(tmp_path_factory, monkeypatch) -> Path:
    return fresh_git(tmp_path_factory.mktemp("git"), monkeypatch)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return new_repo(tmp_path / "repo")
