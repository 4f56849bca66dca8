import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cli_server import Server
from typer.testing import CliRunner

from prism_cli import target, tokens
from prism_cli.exits import CommandError
from prism_cli.main import app
from prism_cli.target import ServerTarget

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
TOKEN = {
    "id": "3f786850e387",
    "tenant": "acme",
    "label": "ci\x1b[2J",
    "scopes": ["read", "write"],
    "repos": ["acme/app"],
    "created_at": "2026-11-20T12:00:00Z",
    "created_by": "token:0123456789ab",
    "expires_at": None,
    "last_used_at": None,
    "revoked_at": None,
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(tokens, "Prism", lambda _: server.prism())
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


def test_a_new_secret_is_shown_once(server: Server):
    server.answers = [httpx.Response(201, json={"secret": "prism_new", "token": TOKEN})]
    options = [
        "--label",
        "ci",
        "--scope",
        "read",
        "--scope",
        "write",
        "--repo",
        "acme/app",
        "--expires-in",
        "90d",
    ]
    shown = CliRunner().invoke(app, ["tokens", "create", *options])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("prism_new") == 1
    [request] = server.requests
    body = json.loads(request.content)
    assert (request.method, request.url.path) == ("POST", "/api/v1/developer-tokens")
    assert (body["scopes"], body["repos"]) == (["read", "write"], ["acme/app"])
    ends_in = datetime.fromisoformat(body["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=89) < ends_in < timedelta(days=91)


def test_tokens_are_listed_without_control_characters(server: Server):
    server.answers = [httpx.Response(200, json={"tokens": [TOKEN]})]
    shown = CliRunner().invoke(app, ["tokens", "list", "--tenant", "acme"])
    assert "3f786850e387" in shown.output
    assert "\x1b[2J" not in shown.output
    assert server.requests[0].url.params["tenant"] == "acme"


def test_a_token_is_revoked_by_its_id(server: Server):
    server.answers = [httpx.Response(200, json=TOKEN)]
    shown = CliRunner().invoke(app, ["tokens", "revoke", "3f786850e387"])
    assert "3f786850e387" in shown.output
    assert (server.requests[0].method, server.requests[0].url.path) == (
        "DELETE",
        "/api/v1/developer-tokens/3f786850e387",
    )


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "valid"),
        ({"expires_at": "2026-11-21T12:00:00Z"}, "expired"),
        ({"expires_at": "2026-11-22T12:00:00Z"}, "valid until 2026-11-22 12:00 UTC"),
        ({"expires_at": "2026-11-22T12:00:00Z", "revoked_at": "2026-11-20T12:00:00Z"}, "revoked"),
    ],
)
def test_the_state_of_a_token(changes: dict[str, str], state: str):
    assert tokens.state(TOKEN | changes, NOW) == state


@pytest.mark.parametrize(
    ("created", "used", "shown"),
    [
        ("2026-11-20T12:00:40Z", "2026-11-20T12:00:00Z", "2026-11-20T12:00:40Z"),
        ("2026-11-20T12:00:40Z", "2026-11-20T12:01:00Z", "2026-11-20T12:01:00Z"),
        ("2026-11-20T12:00:40Z", None, None),
    ],
)
def test_a_token_is_not_used_before_it_is_created(created: str, used: str | None, shown: str | None):
    token = TOKEN | {"created_at": created, "last_used_at": used}
    assert tokens.last_used(token) == tokens.moment(shown)


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("90d", 2160), ("4w", 672)])
def test_durations_have_a_unit(text: str, hours: int):
    assert tokens.duration(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["0d", "90", "d", "-1d", "1y", "999999d"])
def test_other_durations_are_refused(text: str):
    with pytest.raises(CommandError):
        tokens.duration(text)
