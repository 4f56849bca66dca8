"""Repositories made with the real git, in folders of their own."""

import os
import subprocess
from pathlib import Path

import pytest


class Repo:
    """A git repository for tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str, **options) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True, **options
        )
        return done.stdout.strip()

    def write(self, path: str, content: str | bytes = "text\n") -> Path:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def commit(self, **files: str) -> str:
        for path, content in files.items():
            self.write(path, content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.git("rev-parse", "HEAD")


def fresh_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configures git as on a fresh machine: no system file, and a test user's file, whose path is returned."""
    config = folder / "config"
    config.write_text(
        "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n"
        '[protocol "file"]\n\tallow = always\n'
    )
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return config


def new_repo(folder: Path) -> Repo:
    """An empty repository."""
    folder.mkdir()
    made = Repo(folder)
    made.git("init", "--quiet")
    return made
