import io
import json
import re

import httpx
import pytest
from cli_server import Server

from prism_cli import secrets
from prism_cli.exits import CommandError
from prism_cli.target import ServerTarget

TARGET = ServerTarget("https://prism.test", "token")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    server.answers = [httpx.Response(200, json={"webhook_secret": True, "git_password": True})]
    monkeypatch.setattr(secrets, "Prism", lambda _: server.prism())
    return server


def sent(server: Server) -> dict[str, str]:
    [request] = server.requests
    assert (request.method, request.url.path) == ("PUT", "/api/v1/repos/acme/group/app/secrets")
    return json.loads(request.content)


def test_webhook_secret_is_shown_once_with_its_url(server, capsys):
    stored = secrets.keep(TARGET, "acme/group/app", webhook=True, git_login="")
    assert stored["webhook"]["url"] == "https://prism.test/api/v1/ingest/webhook"
    assert sent(server) == {"webhook_secret": stored["webhook"]["secret"]}
    assert re.fullmatch(r"[\w-]{43}", stored["webhook"]["secret"])
    secrets.show(stored)
    assert stored["webhook"]["secret"] in capsys.readouterr().out


def test_a_password_comes_from_standard_input_and_is_not_shown(server, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("hunter2xyz\n"))
    stored = secrets.keep(TARGET, "acme/group/app", webhook=False, git_login="ada@git.test:8443")
    assert sent(server) == {
        "git_host": "git.test:8443",
        "git_username": "ada",
        "git_password": "hunter2xyz",
    }
    secrets.show(stored)
    assert "hunter2xyz" not in capsys.readouterr().out + str(stored)


@pytest.mark.parametrize("login", ["", "ada@git.test"])
def test_empty_input_is_not_stored_as_a_secret(server, monkeypatch, login):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(CommandError):
        secrets.keep(TARGET, "acme/group/app", webhook=False, git_login=login)
    assert not server.requests
