import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cli_server import Server
from typer.testing import CliRunner

from prism_cli import accounting, target
from prism_cli.main import app
from prism_cli.target import ServerTarget

GROUP = {
    "key": "search_code",
    "label": "",
    "calls": 1_204,
    "errors": 3,
    "cached": 310,
    "tokens_in": 21_000,
    "tokens_out": 913_000,
    "tokens_of_files": 5_000_000,
    "tokens_saved": 4_087_000,
    "milliseconds_mean": 9.8,
    "milliseconds_max": 412.3,
}
REPORT = {
    "tenant": "acme",
    "since": "2026-11-18T12:00:00Z",
    "until": "2026-11-25T12:00:00Z",
    "by": "call",
    "groups": [GROUP],
    "total": {**GROUP, "key": "total"},
    "groups_left_out": 0,
    "rule": "An estimate.",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(accounting, "Prism", lambda _: server.prism())
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


def test_usage_is_a_table_with_a_total(server: Server):
    server.answers = [httpx.Response(200, json=REPORT)]
    shown = CliRunner().invoke(app, ["usage", "--days", "30", "--by", "call"])
    assert shown.exit_code == 0, shown.output
    rows = [line.split() for line in shown.output.splitlines()]
    assert ["search_code", "1,204", "3", "310", "9.8", "412", "21k", "913k", "4,087k"] in rows
    assert rows[2][0] == "total"
    [request] = server.requests
    assert request.url.params["by"] == "call"
    since = datetime.fromisoformat(request.url.params["since"])
    assert timedelta(days=29) < datetime.now(UTC) - since < timedelta(days=31)


def test_usage_shows_what_language_models_cost(server: Server):
    model = {
        "model": "openai:gpt-5",
        "purpose": "context",
        "calls": 12,
        "failures": 1,
        "tokens_in": 41_000,
        "tokens_out": 3_200,
        "dollars": 0.08325,
    }
    server.answers = [httpx.Response(200, json={**REPORT, "models": [model]})]
    shown = CliRunner().invoke(app, ["usage"])
    rows = [line.split() for line in shown.output.splitlines()]
    assert ["openai:gpt-5", "context", "12", "1", "41k", "3,200", "0.08"] in rows


ENTRY = {
    "id": "5b6c1d0f9a3e4c72",
    "at": "2026-11-25T10:00:03.5Z",
    "tenant": "acme",
    "action": "token_created",
    "subject": "3f786850e387",
    "caller": "token:0123456789ab",
    "label": "admin",
    "caller_tenant": "",
    "address": "192.0.2.7",
    "code": "",
    "details": {"scopes": "read"},
}


def test_audit_follows_pages_up_to_its_limit(server: Server):
    refused = ENTRY | {"code": "forbidden", "label": "", "caller_tenant": "other"}
    server.answers = [
        httpx.Response(200, json={"entries": [ENTRY], "next_cursor": "next"}),
        httpx.Response(200, json={"entries": [refused], "next_cursor": "more"}),
    ]
    shown = CliRunner().invoke(app, ["audit", "--actor", "admin", "--limit", "2"])
    assert shown.exit_code == 0, shown.output
    rows = [line.rstrip() for line in shown.output.splitlines()][1:]
    assert [row.split("  ", 1)[0] for row in rows] == ["2026-11-25 10:00:03"] * 2
    assert "admin (token:0123456789ab)" in rows[0]
    assert "3f786850e387 (scopes read)" in rows[0]
    assert rows[0].endswith("done")
    assert "token:0123456789ab of other" in rows[1]
    assert rows[1].endswith("forbidden")
    first, second = server.requests
    assert "action" not in first.url.params
    assert (first.url.params["actor"], first.url.params["limit"]) == ("admin", "2")
    assert (second.url.params["cursor"], second.url.params["limit"]) == ("next", "1")


def test_an_empty_audit_says_so(server: Server):
    server.answers = [httpx.Response(200, json={"entries": [], "next_cursor": ""})]
    assert "No changes." in CliRunner().invoke(app, ["audit"]).output


QUESTION = {
    "at": "2026-11-25T10:00:00Z",
    "tenant": "acme",
    "caller": "token:3f786850e387",
    "label": "ci",
    "call": "search_code",
    "repo": "acme/app",
    "query": "where are retries\ndecided",
    "hits": [
        {
            "hit": f"0a1b2c3d4e5{number}",
            "repo": "acme/app",
            "file_path": "src/app.py",
            "start_line": number,
            "end_line": 9,
        }
        for number in range(1, 8)
    ],
}


def test_history_shows_questions_with_their_hits(server: Server):
    server.answers = [httpx.Response(200, json={"is_on": True, "entries": [QUESTION], "next_cursor": ""})]
    shown = CliRunner().invoke(app, ["history"])
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert lines[0] == "2026-11-25 10:00:00  ci (token:3f786850e387)  search_code  acme/app"
    assert lines[1:3] == ["  where are retries decided", "    0a1b2c3d4e51  src/app.py:1-9"]
    assert lines[-1] == "    and 2 more"


def test_history_says_that_it_is_off(server: Server):
    server.answers = [httpx.Response(200, json={"is_on": False, "entries": [], "next_cursor": ""})]
    assert "--turn on" in CliRunner().invoke(app, ["history"]).output


def test_history_is_turned_on_off_and_back_to_the_setting_and_deleted(server: Server):
    server.answers = [httpx.Response(200, json={"tenant": "acme", "is_on": True})]
    for turn in ("on", "off", "default"):
        shown = CliRunner().invoke(app, ["history", "--turn", turn])
        assert shown.output == "The search history of acme is on.\n"
    CliRunner().invoke(app, ["history", "--delete", "--tenant", "acme"])
    *puts, delete = server.requests
    assert [json.loads(put.content)["is_on"] for put in puts] == [True, False, None]
    assert (delete.method, delete.url.params["tenant"]) == ("DELETE", "acme")


def test_feedback_is_listed(server: Server):
    said = {
        "at": "2026-11-25T10:00:00Z",
        "tenant": "acme",
        "caller": "token:3f786850e387",
        "label": "",
        "useful": False,
        "hits": ["0a1b2c3d4e5f"],
        "query": "where are retries decided",
        "note": "In src/policy.py.",
    }
    server.answers = [httpx.Response(200, json={"entries": [said], "next_cursor": ""})]
    shown = CliRunner().invoke(app, ["feedback"])
    assert shown.output.splitlines() == [
        "2026-11-25 10:00:00  token:3f786850e387  not useful: 0a1b2c3d4e5f",
        "  where are retries decided",
        "  In src/policy.py.",
    ]
