"""`prism repos`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from cli_server import NOW, Server
from rich.console import Console
from typer.testing import CliRunner

from prism_cli import repos, target, terminal
from prism_cli.main import app
from prism_cli.target import ServerTarget
from prism_contracts.records import LayerState, Repository

NARROW = 70
REPOSITORY = Repository(
    tenant="default", repo="r1", name="acme/app", source="https://git.example/acme/app", created_at=NOW
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(repos, "Prism", lambda _: server.prism())
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


def served(indexed_at: datetime) -> LayerState:
    return LayerState(commit="4f7c2b9e8d1a" + "0" * 28, ref="main", version=1, job="j", indexed_at=indexed_at)


def listed(*repositories: Repository) -> dict[str, Any]:
    return {"repositories": [one.model_dump(mode="json") for one in repositories]}


def test_list_shows_source_commit_and_age(server: Server) -> None:
    indexed = REPOSITORY.model_copy(update={"served": served(datetime.now(UTC) - timedelta(hours=3))})
    server.answers = [httpx.Response(200, json=listed(indexed))]
    shown = CliRunner().invoke(app, ["repos", "list"])
    assert shown.exit_code == 0, shown.output
    [row] = [line.split("  ") for line in shown.output.splitlines() if "acme/app" in line]
    assert [cell.strip() for cell in row if cell.strip()] == [
        "acme/app", "https://git.example/acme/app", "main", "4f7c2b9e8d", "3 h ago",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"active_job": "j"}, "indexing"),
        ({}, "not indexed"),
    ],
)
def test_state_of_a_repository(changes: dict[str, Any], state: str) -> None:
    [repository] = listed(REPOSITORY.model_copy(update=changes))["repositories"]
    assert repos.state(repository) == state


def test_no_repositories_name_the_next_command(server: Server) -> None:
    server.answers = [httpx.Response(200, json=listed())]
    assert "prism index" in CliRunner().invoke(app, ["repos", "list"]).output


def test_repositories_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(terminal, "out", Console(width=NARROW))
    long = REPOSITORY.model_copy(
        update={"name": "acme/a-long-name-of-a-repository", "source": "https://git.example/" + "a" * 80}
    )
    repos.show(listed(long))
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= NARROW
    assert "not indexed" in shown
