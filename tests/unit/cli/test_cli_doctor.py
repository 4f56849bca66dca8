import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from prism_cli import doctor
from prism_cli.doctor import Finding, Level
from prism_cli.stack import probes
from prism_cli.stack.layout import DataDir, write_json
from prism_cli.stack.lock import UpLock


class Usage(NamedTuple):
    free: int


def only(findings: doctor.Findings) -> Finding:
    (finding,) = findings
    return finding


@pytest.mark.parametrize(
    ("free", "level"),
    [
        (doctor.DISK_NEEDED_BYTES - 1, Level.WRONG),
        (doctor.DISK_NEEDED_BYTES, Level.WARNING),
        (doctor.DISK_WANTED_BYTES, Level.OK),
    ],
)
def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: Level):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: Usage(free))
    assert only(doctor._disk(DataDir(tmp_path / "not" / "there"))).level is level


@pytest.mark.parametrize(
    ("available", "level"),
    [(doctor.MEMORY_WANTED_BYTES - 1024, Level.WARNING), (doctor.MEMORY_WANTED_BYTES, Level.OK)],
)
def test_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, available: int, level: Level):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(
        f"MemTotal:       99999999 kB\nMemAvailable:   {available // 1024} kB\nBuffers: 1 kB\n"
    )
    monkeypatch.setattr(doctor, "MEMORY_FILE", meminfo)
    assert only(doctor._memory()).level is level


@pytest.mark.parametrize("text", [None, "MemTotal: 1 kB\n"])
def test_unknown_memory_is_no_finding(tmp_path: Path, monkeypatch, text: str | None):
    meminfo = tmp_path / "meminfo"
    if text:
        meminfo.write_text(text)
    monkeypatch.setattr(doctor, "MEMORY_FILE", meminfo)
    assert list(doctor._memory()) == []


def test_a_model_that_does_not_load_reports_the_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "LOAD_MODEL", "raise SystemExit('model.npz is missing')")
    finding = only(doctor._model())
    assert finding.level is Level.WRONG
    assert "model.npz is missing" in finding.seen
    assert finding.advice


def test_a_stopped_stack_is_no_problem(tmp_path: Path):
    finding = only(doctor._services(DataDir(tmp_path)))
    assert finding.level is Level.WARNING
    assert "prism up" in finding.advice


def service(**facts: Any) -> dict[str, Any]:
    return {"pid": 1, "port": 1, "ready": True, "restarts": 0, "last_exit": None, "log": "/l"} | facts


@pytest.mark.parametrize(
    ("facts", "problem", "level"),
    [
        (service(), "", Level.OK),
        (service(restarts=1, last_exit="killed by SIGKILL"), "", Level.WARNING),
        (service(), "nats: no answer", Level.WRONG),
        (service(pid=None), "", Level.WRONG),
    ],
)
def test_services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], problem: str, level: Level
):
    monkeypatch.setattr(probes, "ask_all", lambda questions: dict.fromkeys(questions, problem))
    monkeypatch.setattr(probes, "probe_for", lambda *_: None)
    data = DataDir(tmp_path)
    data.create()
    write_json(data.supervisor_file, {"pid": 1, "state": "ready", "services": {"chunker": facts}})
    lock = UpLock(data.lock_file)
    assert lock.take()
    _, finding = doctor._services(data)
    lock.release()
    assert finding.level is level
    assert bool(finding.advice) is (level is not Level.OK)


def test_a_hung_supervisor_is_a_problem(tmp_path: Path):
    data = DataDir(tmp_path)
    data.create()
    write_json(data.supervisor_file, {"pid": 1, "state": "ready", "services": {}})
    os.utime(data.supervisor_file, (0, 0))
    lock = UpLock(data.lock_file)
    assert lock.take()
    finding = only(doctor._services(data))
    lock.release()
    assert finding.level is Level.WRONG
    assert "has not answered" in finding.seen


@pytest.mark.parametrize(
    ("letters", "level"),
    [(None, Level.WARNING), ({"messages": 0}, Level.OK), ({"messages": 2}, Level.WARNING)],
)
def test_dead_letters(letters: dict[str, Any] | None, level: Level):
    assert doctor._dead_letters(letters).level is level


def test_only_errors_count_as_problems(capsys: pytest.CaptureFixture[str]):
    fine = [Finding("a", Level.OK, "x"), Finding("b", Level.WARNING, "y", "do z")]
    assert not doctor.is_wrong(fine)
    assert doctor.as_json([*fine, Finding("c", Level.WRONG, "w")])["ok"] is False
    doctor.show(fine)
    assert "do z" in capsys.readouterr().out
