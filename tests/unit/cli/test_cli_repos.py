"""`prism repos`."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from cli_server import NOW, Server, job_json, make_job
from rich.console import Console
from typer.testing import CliRunner

from prism_cli import repos, target, terminal
from prism_cli.exits import CommandError, Exit
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


def test_repository_without_a_commit_shows_a_dash(server: Server) -> None:
    none = served(datetime.now(UTC)).model_copy(update={"commit": "0" * 40})
    server.answers = [httpx.Response(200, json=listed(REPOSITORY.model_copy(update={"served": none})))]
    shown = CliRunner().invoke(app, ["repos", "list"])
    [row] = [line.split() for line in shown.output.splitlines() if "acme/app" in line]
    assert row[2:4] == ["main", "-"]


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


STATUS: dict[str, Any] = {
    "name": "acme/app",
    "repo": "r1",
    "source": "https://git.example/acme/app",
    "ref": "",
    "is_active": True,
    "repo_root_prefix": "services/api",
    "include": ["*.py"],
    "exclude": [],
    "state": "failed",
    "served_commit": "4f7c2b9e8d1a" + "0" * 28,
    "served_ref": "main",
    "indexed_at": NOW.isoformat(),
    "head_commit": "5" * 40,
    "lag_seconds": 61.5,
    "files": {"indexed": 1_200, "skipped": 3, "failed": 1},
    "layers": 2,
    "active_job": None,
    "last_job": None,
    "last_error": {
        "code": "clone_failed",
        "message": "git.example did not answer within 30 s.",
        "next_action": "Check that the server is up.",
        "details": {},
    },
}


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ([], {"index": True, "name": "", "ref": ""}),
        (
            ["--name", "acme/x", "--ref", "main", "--inactive", "--no-index"],
            {"index": False, "name": "acme/x", "ref": "main", "is_active": False},
        ),
    ],
)
def test_add_registers_a_url(server: Server, options: list[str], body: dict[str, Any]) -> None:
    added = {"repository": REPOSITORY.model_dump(mode="json"), "job": None}
    server.answers = [httpx.Response(201, json=added)]
    shown = CliRunner().invoke(app, ["repos", "add", "https://git.example/acme/app", *options])
    assert shown.exit_code == 0, shown.output
    assert "prism repos reindex acme/app" in shown.output
    [request] = server.requests
    assert (request.method, request.url.path) == ("POST", "/api/v1/repos")
    assert json.loads(request.content) == {"url": "https://git.example/acme/app", **body}


def test_a_lost_answer_of_add_is_asked_for_again_with_the_same_key(server: Server) -> None:
    added = {"repository": REPOSITORY.model_dump(mode="json"), **job_json(make_job())}
    server.answers = [httpx.ReadError("gone"), httpx.Response(202, json=added)]
    shown = CliRunner().invoke(app, ["repos", "add", "https://git.example/acme/app"])
    assert shown.exit_code == 0, shown.output
    assert "Job j1 imports owner/name" in shown.output
    first, second = (request.headers["Idempotency-Key"] for request in server.requests)
    assert first == second


@pytest.mark.parametrize(
    ("options", "changes", "words"),
    [
        (
            ["--prefix", "services/", "--include", "*.py", "--include", "*.md", "--exclude", ""],
            {"repo_root_prefix": "services/", "include": ["*.py", "*.md"], "exclude": []},
            "is active",
        ),
        (["--ref", "release/2"], {"ref": "release/2"}, "follows release/2 and is active"),
        (["--ref", ""], {"ref": ""}, "follows the default branch"),
        (["--deactivate"], {"is_active": False}, "is inactive"),
    ],
)
def test_update_changes_settings(
    server: Server, options: list[str], changes: dict[str, Any], words: str
) -> None:
    repository = REPOSITORY.model_dump(mode="json") | changes
    server.answers = [httpx.Response(200, json={"repository": repository})]
    shown = CliRunner().invoke(app, ["repos", "update", "acme/app", *options])
    assert shown.exit_code == 0, shown.output
    assert words in shown.output
    [request] = server.requests
    assert (request.method, request.url.path) == ("PATCH", "/api/v1/repos/acme/app")
    assert json.loads(request.content) == changes


def test_update_without_changes_names_the_help(server: Server) -> None:
    shown = CliRunner().invoke(app, ["repos", "update", "acme/app"])
    assert isinstance(shown.exception, CommandError)
    assert "prism repos update --help" in shown.exception.next_action
    assert server.requests == []


def test_reindex_begins_a_job(server: Server) -> None:
    server.answers = [httpx.Response(202, json=job_json(make_job()))]
    shown = CliRunner().invoke(app, ["repos", "reindex", "acme/app", "--force"])
    assert shown.exit_code == 0, shown.output
    assert "Job j1 imports owner/name" in shown.output
    [request] = server.requests
    assert (request.method, request.url.path) == ("POST", "/api/v1/repos/acme/app/index")
    assert json.loads(request.content) == {"full": False, "force": True}


def test_show_fits_a_narrow_terminal(server: Server, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(terminal, "out", Console(width=NARROW))
    running = job_json(make_job(seen=1_234))["job"]
    repos.show_status(STATUS | {"source": "https://git.example/" + "a" * 80, "active_job": running})
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= NARROW
    for words in (
        "acme/app: failed",
        "4f7c2b9e8d",
        "1,200 indexed",
        "1,234 files",
        "[clone_failed]",
        "→",
        "services/api",
    ):
        assert words in shown


def test_show_asks_for_the_status(server: Server) -> None:
    server.answers = [httpx.Response(200, json=STATUS | {"state": "registered", "is_active": False})]
    shown = CliRunner().invoke(app, ["repos", "show", "acme/app"])
    assert "acme/app: registered, inactive" in shown.output
    assert server.requests[0].url.path == "/api/v1/repos/acme/app/status"


REMOVED = {"repo": "acme/app", "jobs_cancelled": 2}


def test_remove_names_what_it_removed(server: Server) -> None:
    server.answers = [httpx.Response(200, json=REMOVED)]
    shown = CliRunner().invoke(app, ["repos", "remove", "acme/app", "--yes"])
    assert shown.exit_code == 0, shown.output
    assert shown.output == "acme/app is removed. Imports cancelled: 2.\n"
    [request] = server.requests
    assert (request.method, request.url.path) == ("DELETE", "/api/v1/repos/acme/app")


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_remove_asks_and_takes_no_for_an_answer(
    server: Server, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(repos, "is_terminal", lambda: True)
    shown = CliRunner().invoke(app, ["repos", "remove", "acme/app"], input=answer)
    assert isinstance(shown.exception, CommandError)
    assert shown.exception.code == "declined"
    assert server.requests == []


def test_remove_proceeds_after_a_yes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repos, "is_terminal", lambda: True)
    server.answers = [httpx.Response(200, json=REMOVED)]
    shown = CliRunner().invoke(app, ["repos", "remove", "acme/app"], input="y\n")
    assert shown.exit_code == 0, shown.output
    assert "acme/app is removed." in shown.output
    assert len(server.requests) == 1


def test_remove_without_a_terminal_needs_the_option(server: Server) -> None:
    shown = CliRunner().invoke(app, ["repos", "remove", "acme/app"])
    assert isinstance(shown.exception, CommandError)
    assert (shown.exception.code, shown.exception.exit_code) == ("confirmation_required", Exit.USAGE)
    assert server.requests == []
