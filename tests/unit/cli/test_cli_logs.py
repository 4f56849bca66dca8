import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism_cli import logs
from prism_cli.exits import CommandError, Exit
from prism_cli.logs import Choice, parse
from prism_cli.main import app
from prism_cli.stack.layout import DataDir
from prism_cli.stack.logs import rotate

GATEWAY = [
    '{"event": "started", "service": "gateway", "level": "info", "timestamp": "2026-11-25T08:00:01.000000Z"}',
    '{"event": "slow call", "tool": "grep_code", "level": "warning", "timestamp": "2026-11-25T08:00:05.000000Z"}',
]
SUPERVISOR = [
    "2026-11-25T08:00:02.000+00:00 ready: nats is ready (process 7)",
    "Traceback (most recent call last):",
    '  File "supervisor.py", line 1, in run',
    "2026-11-25T10:00:06.000+02:00 up: http://127.0.0.1:8780",
]


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    folder = DataDir(tmp_path)
    folder.logs.mkdir()
    write(folder, "gateway", GATEWAY)
    write(folder, "supervisor", SUPERVISOR)
    return folder


def write(data: DataDir, service: str, lines: list[str]) -> None:
    with data.log(service).open("a") as log:
        log.writelines(f"{line}\n" for line in lines)


def shown(capsys: pytest.CaptureFixture[str], data: DataDir, choice: Choice) -> list[str]:
    logs.run(data, choice)
    return capsys.readouterr().out.splitlines()


def test_all_logs_are_merged_by_time_with_names(data: DataDir, capsys: pytest.CaptureFixture[str]):
    assert shown(capsys, data, Choice("", 9, follow=False, as_json=False)) == [
        "2026-11-25T08:00:01.000Z gateway    info    started",
        "2026-11-25T08:00:02.000Z supervisor         ready: nats is ready (process 7)",
        "2026-11-25T08:00:02.000Z supervisor         Traceback (most recent call last):",
        '2026-11-25T08:00:02.000Z supervisor           File "supervisor.py", line 1, in run',
        "2026-11-25T08:00:05.000Z gateway    warning slow call tool=grep_code",
        "2026-11-25T08:00:06.000Z supervisor         up: http://127.0.0.1:8780",
    ]


def test_the_last_lines_are_those_of_all_services(data: DataDir, capsys: pytest.CaptureFixture[str]):
    lines = shown(capsys, data, Choice("", 2, follow=False, as_json=False))
    assert [line.split()[1] for line in lines] == ["gateway", "supervisor"]
    assert shown(capsys, data, Choice("", 0, follow=False, as_json=False)) == []


def test_one_log_is_shown_without_its_name(data: DataDir, capsys: pytest.CaptureFixture[str]):
    assert shown(capsys, data, Choice("gateway", 1, follow=False, as_json=False)) == [
        "2026-11-25T08:00:05.000Z warning slow call tool=grep_code"
    ]


def test_a_log_of_a_process_that_could_not_log_has_the_time_of_its_file(
    data: DataDir, capsys: pytest.CaptureFixture[str]
):
    write(data, "atlas", ["ModuleNotFoundError: No module named 'numpy'"])
    os.utime(data.log("atlas"), (1_795_600_000, 1_795_600_000))
    lines = shown(capsys, data, Choice("atlas", 9, follow=False, as_json=False))
    assert lines == ["2026-11-25T09:46:40.000Z         ModuleNotFoundError: No module named 'numpy'"]


def test_json_is_one_object_per_line(data: DataDir, capsys: pytest.CaptureFixture[str]):
    values = [json.loads(line) for line in shown(capsys, data, Choice("", 9, follow=False, as_json=True))]
    assert values[0] == json.loads(GATEWAY[0])
    assert values[1] == {
        "event": "ready: nats is ready (process 7)",
        "service": "supervisor",
        "level": "",
        "timestamp": "2026-11-25T08:00:02+00:00",
    }


def test_following_sees_rotated_and_new_logs_until_ctrl_c(data: DataDir, capsys: pytest.CaptureFixture[str]):
    def line(second: int) -> str:
        return f"2026-11-25T08:01:{second:02}.000+00:00 {second}"

    def write_and_rotate() -> None:
        write(data, "gateway", [line(1)])
        rotate(data.log("gateway"), bytes_max=1)
        write(data, "gateway", [line(2)])

    def start_another() -> None:
        write(data, "supervisor", [line(5)])
        write(data, "embedder-deep", [line(3), line(4)])

    def interrupt() -> None:
        raise KeyboardInterrupt

    steps: list[Callable[[], None]] = [write_and_rotate, lambda: None, start_another, interrupt]
    logs.run(data, Choice("", 0, follow=True, as_json=False), lambda _: steps.pop(0)())
    assert [row.split()[-1] for row in capsys.readouterr().out.splitlines()] == ["1", "2", "3", "4", "5"]


def test_calls_line_up_in_columns():
    called = [
        {"tool": "search_code", "tenant": "acme", "repo": "acme/app", "code": "ok", "total_ms": 12.5},
        {"route": "POST /api/v1/search", "code": "unauthenticated", "total_ms": 1103.25},
        {
            "route": "GET /api/v1/repositories/{name:path}/branches",
            "tenant": "acme",
            "code": "ok",
            "total_ms": 3,
        },
    ]
    lines = [parse("gateway", json.dumps({"event": "call", "level": "info"} | call)).text for call in called]
    assert lines == [
        "search_code                      acme         ok                    12.5 ms repo=acme/app",
        "POST /api/v1/search              -            unauthenticated    1103.25 ms",
        "GET /api/v1/repositories/{name:path}/branches acme         ok                       3 ms",
    ]


def test_lines_of_nats_have_time_and_level(monkeypatch: pytest.MonkeyPatch):
    line = parse("nats", "[33] 2026/11/25 08:02:50.216571 [WRN] Slow consumer")
    assert (line.level, line.text) == ("warning", "Slow consumer")
    assert line.moment.minute == 2
    assert parse("nats", "[33] 2026/99/25 08:02:50.2 [WRN] x").moment is logs.UNKNOWN_TIME


def test_structured_tracebacks_are_shown_as_rows(data: DataDir, capsys: pytest.CaptureFixture[str]):
    frames = [{"filename": "a.py", "lineno": 3, "name": "run"}]
    exception = [{"exc_type": "ValueError", "exc_value": "no \x1b[2J", "frames": frames}, "odd"]
    fields = {"event": "failed", "timestamp": "2026-11-25T08:00:09Z", "exception": exception}
    write(data, "chunker", [json.dumps(fields), '{"not": "closed'])
    assert shown(capsys, data, Choice("chunker", 9, follow=False, as_json=False)) == [
        "2026-11-25T08:00:09.000Z         failed",
        "  a.py:3 in run",
        "  ValueError: no �[2J",
        '2026-11-25T08:00:09.000Z         {"not": "closed',
    ]


def test_an_unknown_service_is_told_the_known_ones(data: DataDir):
    with pytest.raises(CommandError) as caught:
        logs.run(data, Choice("gatewy", 1, follow=False, as_json=False))
    assert (caught.value.code, caught.value.exit_code) == ("service_unknown", Exit.USAGE)
    assert caught.value.next_action == "Choose one of: gateway, supervisor."


def test_a_folder_without_logs_is_not_running(tmp_path: Path):
    with pytest.raises(CommandError) as caught:
        logs.run(DataDir(tmp_path), Choice("", 1, follow=False, as_json=False))
    assert caught.value.exit_code is Exit.NOT_RUNNING


def test_the_command_takes_service_and_numbers(data: DataDir):
    arguments = ["logs", "supervisor", "-n", "1", "--data-dir", str(data.root)]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, found.output
    assert CliRunner().invoke(app, ["logs", "-n", "-1"]).exit_code == Exit.USAGE
