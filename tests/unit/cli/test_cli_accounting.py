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
