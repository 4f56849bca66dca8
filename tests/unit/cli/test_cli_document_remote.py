import asyncio

import httpx
import pytest
from cli_server import Server

from prism_cli import document_remote
from prism_cli.target import ServerTarget

TARGET = ServerTarget("https://prism.test", "token")
URL = "https://git.test/acme/documents"
STATUS = {
    "url": URL,
    "branch": "main",
    "pending_push": True,
    "checked_at": "2026-03-14T09:26:53Z",
    "failures": 3,
    "conflicts": [{"path": "documents/a.md", "kept_path": "documents/a.theirs.md"}],
    "error": {
        "code": "git_error",
        "message": "It does not answer.",
        "next_action": "Wait: it is tried again.",
    },
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    server.answers = [httpx.Response(200, json=STATUS)]
    monkeypatch.setattr(document_remote, "Prism", lambda _: server.prism())
    return server


def test_a_remote_is_set_by_its_url_and_branch(server) -> None:
    assert asyncio.run(document_remote.set_url(TARGET, URL, "main")) == STATUS
    [request] = server.requests
    assert (request.method, request.url.path) == ("PUT", "/api/v1/documents/remote")
    assert b'"branch":"main"' in request.content


def test_what_waits_and_why_is_shown(capsys) -> None:
    document_remote.show(STATUS)
    shown = capsys.readouterr().out
    assert f"{URL}, branch main: commits wait to be pushed" in shown
    assert "documents/a.md was changed there, too: see documents/a.theirs.md" in shown
    assert "3 tries failed: It does not answer." in shown


def test_a_removed_remote_is_shown_as_none(capsys) -> None:
    document_remote.show(STATUS | {"url": ""})
    assert capsys.readouterr().out == "The documents have no remote now.\n"
