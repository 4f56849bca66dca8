import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from prism_cli import status
from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_cli.stack import live, probes
from prism_cli.stack.layout import DataDir
from prism_cli.target import ServerTarget

SERVER = {
    "streams": [
        {
            "name": "PRISM_FILES",
            "messages": 3,
            "bytes": 10,
            "consumers": [{"name": "chunker-live-x", "pending": 2, "ack_pending": 1, "redelivered": 4}],
        }
    ],
    "dead_letters": {
        "messages": 1,
        "newest": [
            {"subject": "prism.bulk.file.changed", "code": "parse_failed", "reason": "x", "path": "a.py"}
        ],
    },
    "points": {"total": 5},
    "repositories": [
        {
            "name": "o/n",
            "points": 5,
            "head_commit": "def4567",
            "layers": [
                {
                    "layer": "base",
                    "ref": "main",
                    "commit": "abc",
                    "points": 5,
                    "files": 2,
                    "lag_seconds": 12.3,
                }
            ],
        },
        {"name": "o/empty", "points": 0, "layers": []},
    ],
    "jobs": [
        {
            "job": "j1",
            "repo_name": "o/n",
            "state": "complete",
            "counts": {"indexed": 1, "unchanged": 0, "skipped": 0, "failed": 0},
        }
    ],
    "errors": {},
}


@pytest.fixture(autouse=True)
def chunker_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "probe_for", lambda *_: None)
    monkeypatch.setattr(probes, "ask_all", lambda questions: dict.fromkeys(questions, ""))


def local_stack(tmp_path: Path) -> DataDir:
    data = DataDir(tmp_path)
    data.create()
    chunker = {"pid": os.getpid(), "port": 1, "ready": True, "restarts": 2, "last_exit": None, "log": ""}
    gone = {"pid": None, "port": None, "ready": False, "restarts": 1, "last_exit": "killed", "log": ""}
    state = {"pid": os.getpid(), "state": "ready", "services": {"chunker": chunker, "search": gone}}
    data.supervisor_file.write_text(json.dumps(state))
    return data


def answer_with(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any] | CommandError) -> None:
    async def played(_: Prism) -> dict[str, Any]:
        if isinstance(answer, CommandError):
            raise answer
        return answer

    monkeypatch.setattr(Prism, "status", played)


async def test_server_and_processes_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    answer_with(monkeypatch, SERVER)
    report = await status.status(ServerTarget("http://x", "t", local_stack(tmp_path)))
    expected = {"services", "repositories", "jobs", "streams", "dead_letters", "points", "memory"}
    assert expected <= set(report)
    by_name = {facts["name"]: facts for facts in report["services"]}
    assert set(by_name) == {"supervisor", "chunker", "search"}
    assert by_name["chunker"]["restarts"] == 2
    assert by_name["chunker"]["rss_bytes"] >= by_name["chunker"]["pss_bytes"] > 0
    assert by_name["search"]["rss_bytes"] is None
    assert report["memory"]["rss_bytes"] >= by_name["chunker"]["rss_bytes"]
    assert report["memory"]["pss_bytes"] >= by_name["chunker"]["pss_bytes"]


def test_a_hung_supervisor_is_not_ready(tmp_path: Path):
    data = local_stack(tmp_path)
    touched = time.time() - live.SUPERVISOR_SILENT_S_MAX - 1
    os.utime(data.supervisor_file, (touched, touched))
    supervisor, *_ = status.service_facts(data)
    assert (supervisor["ready"], supervisor["state"]) == (False, "not answering")
    assert "are not replaced" in supervisor["problem"]


async def test_processes_are_shown_while_the_gateway_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    answer_with(monkeypatch, CommandError("refused", code="unavailable"))
    report = await status.status(ServerTarget("http://x", "t", local_stack(tmp_path)))
    assert report["repositories"] is None
    assert "unavailable" in report["errors"]["gateway"]
    status.show(report)


async def test_unreachable_remote_is_an_error(monkeypatch: pytest.MonkeyPatch):
    answer_with(monkeypatch, CommandError("refused", code="unavailable"))
    with pytest.raises(CommandError):
        await status.status(ServerTarget("http://x", "t"))


async def test_status_shows_every_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    answer_with(monkeypatch, SERVER)
    status.show(await status.status(ServerTarget("http://x", "t", local_stack(tmp_path))))
    shown = capsys.readouterr().out
    for expected in (
        "chunker",
        "not running",
        "2 restarts, last end:",
        "1 restarts, last end: killed. Log:",
        "o/n",
        "o/empty",
        "complete",
        "PRISM_FILES",
        "parse_failed",
        "def4567",
    ):
        assert expected in shown


@pytest.mark.parametrize("part", status.SERVER_PARTS)
async def test_an_unknown_part_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], part: str
):
    answer_with(monkeypatch, SERVER | {part: None, "errors": {part: "deadline_exceeded"}})
    status.show(await status.status(ServerTarget("http://x", "t")))
    assert f"{part}: unknown (deadline_exceeded)" in capsys.readouterr().out


async def test_layers_are_shown_with_their_refs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    base = SERVER["repositories"][0]["layers"][0]
    layers = [
        base | {"layer": f"{number:016x}", "ref": f"topic/{number}", "head_commit": "fed7654"}
        for number in range(status.LAYERS_SHOWN)
    ]
    repository = SERVER["repositories"][0] | {"layers": [base, *layers]}
    answer_with(monkeypatch, SERVER | {"repositories": [repository]})
    status.show(await status.status(ServerTarget("http://x", "t")))
    shown = capsys.readouterr().out
    assert "topic/0 " in shown
    assert "fed7654 for 12 s" in shown
    assert f"topic/{status.LAYERS_SHOWN - 1}" not in shown
    assert f"… {status.LAYERS_SHOWN + 1} in all" in shown
