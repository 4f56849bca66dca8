import json

import httpx
import pytest
from cli_server import Server
from typer.testing import CliRunner

from prism_cli import target, tenants
from prism_cli.exits import CommandError
from prism_cli.main import app
from prism_cli.target import ServerTarget

TENANT = {
    "id": "acme",
    "name": "Acme\x1b[2J",
    "plan": "team",
    "limits": {"searches_per_minute": 600, "overlays": None},
    "limits_in_effect": {"requests_per_day": 100_000, "searches_per_minute": 600, "overlays": None},
    "is_active": True,
    "created_at": "2026-11-20T12:00:00Z",
    "removal": None,
}
TOKEN = {"id": "3f786850e387", "tenant": "acme", "scopes": ["admin", "read", "write"]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(tenants, "Prism", lambda _: server.prism())
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


def run(*arguments: str):
    return CliRunner().invoke(app, ["tenants", *arguments])


def test_a_new_tenant_shows_the_secret_of_its_first_token_once(server: Server):
    server.answers = [httpx.Response(201, json={"tenant": TENANT, "secret": "prism_new", "token": TOKEN})]
    shown = run(
        "create", "acme", "--plan", "team", "--limit", "searches_per_minute=600", "--limit", "overlays=none"
    )
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("prism_new") == 1
    [request] = server.requests
    assert (request.method, request.url.path) == ("POST", "/api/v1/tenants")
    limits = {"searches_per_minute": 600, "overlays": None}
    assert json.loads(request.content) == {"id": "acme", "name": "", "plan": "team", "limits": limits}


def test_all_pages_are_listed_without_control_characters(server: Server):
    server.answers = [
        httpx.Response(200, json={"tenants": [TENANT], "next_cursor": "acme"}),
        httpx.Response(
            200, json={"tenants": [TENANT | {"id": "beta", "is_active": False}], "next_cursor": ""}
        ),
    ]
    shown = run("list")
    assert "searches_per_minute=600, overlays=none" in shown.output
    assert "inactive" in shown.output
    assert "\x1b[2J" not in shown.output
    assert [request.url.params["cursor"] for request in server.requests] == ["", "acme"]


def test_the_limits_in_effect_are_shown_with_their_origin(server: Server):
    server.answers = [httpx.Response(200, json=TENANT)]
    lines = run("show", "acme").output.splitlines()
    assert lines[0].endswith("plan team, active")
    assert [line.split() for line in lines[1:]] == [
        ["requests_per_day", "100000"],
        ["searches_per_minute", "600", "its", "own"],
        ["overlays", "none", "its", "own"],
    ]


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        (["--limit", "searches_per_minute=plan"], {"limits": {"searches_per_minute": "plan"}}),
        (["--plan", "free", "--name", ""], {"plan": "free", "name": ""}),
        (["--deactivate"], {"is_active": False}),
        (["--activate"], {"is_active": True}),
    ],
)
def test_only_what_is_given_is_changed(server: Server, options, changes):
    server.answers = [httpx.Response(200, json=TENANT)]
    assert run("update", "acme", *options).exit_code == 0
    [request] = server.requests
    assert (request.method, request.url.path) == ("PATCH", "/api/v1/tenants/acme")
    assert json.loads(request.content) == changes


def test_an_update_of_nothing_is_refused(server: Server):
    result = run("update", "acme")
    assert isinstance(result.exception, CommandError)
    assert not server.requests


def test_an_id_cannot_name_another_endpoint(server: Server):
    server.answers = [httpx.Response(200, json=TENANT)]
    run("show", "../developer-tokens")
    assert server.requests[0].url.raw_path == b"/api/v1/tenants/..%2Fdeveloper-tokens"


@pytest.mark.parametrize(
    "text", ["overlays", "overlays=", "overlays=many", "overlays=-1", "overlays=" + "9" * 17]
)
def test_other_limits_are_refused(text: str):
    with pytest.raises(CommandError):
        tenants.read_limits([text])


def removal(deleted_at: str | None, **removed: int) -> httpx.Response:
    counts = {"repositories": 0, "jobs_cancelled": 0, "tokens": 0, "points": 0} | removed
    of = {"requested_at": "2026-11-21T12:00:00Z", "deleted_at": deleted_at, "removed": counts}
    return httpx.Response(202, json=TENANT | {"is_active": False, "removal": of})


def test_a_removal_waits_and_tells_what_was_deleted(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tenants, "POLL_S", 0)
    server.answers = [
        removal(None),
        removal(None),
        removal("2026-11-21T12:00:05Z", repositories=2, points=1200),
    ]
    shown = run("remove", "acme", "--yes")
    assert shown.exit_code == 0, shown.output
    lines = [line.split() for line in shown.output.splitlines()]
    assert lines == [["Tenant", "acme", "is", "removed."], ["repositories", "2"], ["points", "1,200"]]
    assert [request.method for request in server.requests] == ["DELETE", "GET", "GET"]


def test_a_tenant_that_is_being_removed_is_shown_with_what_was_deleted(server: Server):
    server.answers = [removal("2026-11-21T12:00:05Z", points=1200)]
    shown = run("show", "acme").output
    assert "plan team, being removed" in shown
    assert shown.splitlines()[-1].split() == ["points", "1,200"]


def test_a_removal_need_not_wait(server: Server):
    server.answers = [removal(None)]
    assert "is being deleted" in run("remove", "acme", "--yes", "--no-wait").output
    assert [request.method for request in server.requests] == ["DELETE"]


def test_a_removal_needs_a_confirmation(server: Server):
    result = run("remove", "acme")
    assert isinstance(result.exception, CommandError)
    assert result.exception.code == "confirmation_required"
    assert not server.requests
