"""`prism jobs`."""

import httpx
import pytest
from cli_server import Server, job_json, make_job
from rich.console import Console
from typer.testing import CliRunner

from prism_cli import jobs, target, terminal
from prism_cli.main import app
from prism_cli.target import ServerTarget
from prism_contracts.records import JobState

NARROW = 70


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(jobs, "Prism", lambda _: server.prism())
    monkeypatch.setattr(target, "find_target", lambda: ServerTarget("https://prism.test", "secret"))
    return server


@pytest.mark.parametrize("state", list(JobState))
def test_jobs_fit_a_narrow_terminal(state: JobState, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(terminal, "out", Console(width=NARROW))
    job = make_job(state, seen=1_234_567).model_copy(
        update={"job": "4be1e2d5-07a9-4c93-a6ae-1a2d8c9f0b77", "repo_name": "acme/a-long-name-of-a-repo"}
    )
    jobs.show({"jobs": [job.model_dump(mode="json")]})
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= NARROW
    assert job.job in shown
    assert state.value in shown


@pytest.mark.parametrize(
    ("state", "words"), [(JobState.CANCELLED, "is cancelled"), (JobState.COMPLETE, "had ended: complete")]
)
def test_cancelling_reports_the_state(server: Server, state: JobState, words: str) -> None:
    server.answers = [httpx.Response(200, json=job_json(make_job(state)))]
    shown = CliRunner().invoke(app, ["jobs", "cancel", "j1"])
    assert shown.exit_code == 0, shown.output
    assert words in shown.output
    [request] = server.requests
    assert (request.method, request.url.path) == ("DELETE", "/api/v1/jobs/j1")
