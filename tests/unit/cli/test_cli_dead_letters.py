"""`prism dead-letters`."""

import httpx
import pytest
from cli_server import Server
from typer.testing import CliRunner

from prism_cli import dead_letters, target
from prism_cli.main import app
from prism_cli.target import ServerTarget

LETTER = {
    "letter": 12,
    "subject": "prism.bulk.file.changed",
    "consumer": "chunker-bulk-file-changed",
    "code": "parse_failed",
    "reason": "the parser died \x1b[31m",
    "repo": "acme/app",
    "path": "src/a.py",
    "at": "2026-11-28T09:30:00Z",
}
DONE = {"letter": 12, "event": "file.changed", "repo": "acme/app", "file_path": "src/a.py", "dropped": 1}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(dead_letters, "Prism", lambda _: server.prism())
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


def run(*arguments: str) -> str:
    shown = CliRunner().invoke(app, ["dead-letters", *arguments], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    return shown.output


def test_letters_are_listed_with_their_numbers(server: Server) -> None:
    server.answers = [httpx.Response(200, json={"messages": 3, "newest": [LETTER]})]
    shown = run("list", "--limit", "1")
    for word in ("12", "2026-11-28 09:30", "acme/app", "src/a.py", "parse_failed: the parser died"):
        assert word in shown
    assert "\x1b" not in shown
    assert "2 more are older." in shown
    [request] = server.requests
    assert (request.method, request.url.path) == ("GET", "/api/v1/dead-letters")


def test_no_letters_is_said(server: Server) -> None:
    server.answers = [httpx.Response(200, json={"messages": 0, "newest": []})]
    assert "No dead letters." in run("list")


@pytest.mark.parametrize(
    ("job", "dropped", "words"),
    [
        ({"job": "j1"}, 3, "Job j1 reads acme/app again."),
        ({"job": "j1"}, 3, "It replaces 3 dead letters."),
        (None, 1, "file.changed of acme/app is on its way again."),
    ],
)
def test_a_retry_says_what_it_began(server: Server, job: object, dropped: int, words: str) -> None:
    server.answers = [httpx.Response(202, json={**DONE, "job": job, "dropped": dropped})]
    assert words in run("retry", "12")
    [request] = server.requests
    assert (request.method, request.url.path) == ("POST", "/api/v1/dead-letters/12/retry")


def test_several_letters_are_dropped(server: Server) -> None:
    server.answers = [
        httpx.Response(200, json={**DONE, "letter": number, "job": None}) for number in (12, 13)
    ]
    shown = run("drop", "12", "13")
    assert "Dropped 12: src/a.py" in shown
    assert [(one.method, one.url.path) for one in server.requests] == [
        ("DELETE", "/api/v1/dead-letters/12"),
        ("DELETE", "/api/v1/dead-letters/13"),
    ]


@pytest.mark.parametrize("number", ["0", "-1", "x", "9007199254740992"])
def test_a_number_that_no_letter_has_is_refused(server: Server, number: str) -> None:
    shown = CliRunner().invoke(app, ["dead-letters", "drop", "--", number])
    assert shown.exit_code == 2
    assert not server.requests
