"""Servers without pauses, and a repository made with the real git."""

from pathlib import Path

import pytest
from cli_server import Server
from git_repos import Repo, fresh_git, new_repo
from overlay_server import OverlayServer

from prism_cli import client


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    async def no_pause(_: float) -> None:
        return

    monkeypatch.setattr(client.asyncio, "sleep", no_pause)
    return Server()


@pytest.fixture
def repo(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Repo:
    fresh_git(tmp_path_factory.mktemp("git"), monkeypatch)
    return new_repo(tmp_path / "repo")


@pytest.fixture
def overlays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OverlayServer:
    """A server that accepts overlays, and a private data folder."""
    monkeypatch.setenv("PRISM_DATA_DIR", str(tmp_path / "data"))
    return OverlayServer()
