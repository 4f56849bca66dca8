"""Start of a stack in the background, and stop of a running stack."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from prism_cli.exits import CommandError, Exit
from prism_cli.stack import child, machine, probes, stale
from prism_cli.stack.layout import DataDir, read_json
from prism_cli.stack.lock import UpLock, holder
from prism_cli.stack.logs import rotate, tail
from prism_cli.stack.supervisor import STOP_SECONDS_MAX, Note, Report

# Four groups stop in sequence, see the supervisor.
DOWN_SECONDS_MAX = 4 * STOP_SECONDS_MAX + 5.0
PAUSE_S = 0.05
# A supervisor writes its state again within a second.
PID_SECONDS_MAX = 10.0
GUARD = Path(__file__).with_name("guard.sh")
# Only a guard was started with this variable, which holds the path of the data folder; guard.sh removes it
# for its children.
GUARD_MARKER = "PRISM_GUARD_OF"
LOG_LINES_SHOWN = 8


def start_in_background(data: DataDir, port: int, report: Report, *, tied: bool = False) -> dict[str, Any]:
    """Start a supervisor in its own session, wait until the stack is ready, and return `up.json`.

    A guard restarts it on the same port after an unexpected death. A `tied` one dies with this process, and
    has no guard. Raises CommandError if the stack does not come up.
    """
    data.create()
    rotate(data.supervisor_log)
    read_end, write_end = os.pipe()
    process = _spawn(data, port, write_end, tied=tied)
    os.close(write_end)
    with os.fdopen(read_end) as notes:
        try:
            _follow(data, notes, report)
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGTERM)  # a guard and its supervisor
            _is_gone_within(data.lock_file, DOWN_SECONDS_MAX)
            raise
    up = read_json(data.up_file)
    if up is None:
        raise CommandError("The stack stopped right after it started.", f"See {data.supervisor_log}.")
    return up


def _spawn(data: DataDir, port: int, write_end: int, *, tied: bool) -> subprocess.Popen[bytes]:
    # A guard needs the same port for all lives of the supervisor.
    port = port or (0 if tied else probes.free_port())
    daemon = (sys.executable, "-P", "-m", "prism_cli.stack.daemon", str(data.root), str(port))
    tie = (sys.executable, "-I", "-S", str(child.__file__), str(os.getpid()))
    guard = ("sh", str(GUARD))
    with data.supervisor_log.open("ab") as log:
        return subprocess.Popen(
            [*tie, *daemon, "1"] if tied else [*guard, *daemon],
            cwd=data.run,
            env=dict(os.environ) if tied else {**os.environ, GUARD_MARKER: str(data.root)},
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=log,
            start_new_session=True,
        )


def _follow(data: DataDir, notes: IO[str], report: Report) -> None:
    for line in notes:
        value = json.loads(line)
        if value["kind"] == "failed":
            raise _as_error(value)
        report(Note(value["kind"], value["text"], value["service"]))
        if value["kind"] == "up":
            return
    lines = "\n".join(tail(data.supervisor_log, LOG_LINES_SHOWN))
    raise CommandError(
        f"The supervisor ended before the stack was ready.\n{lines}",
        f"Read {data.supervisor_log}, then run `prism doctor`.",
        code="start_failed",
        exit_code=Exit.START_FAILED,
    )


def _as_error(value: dict[str, Any]) -> CommandError:
    body = value["error"]
    return CommandError(
        body["message"],
        body["next_action"],
        code=body["code"],
        exit_code=Exit(value["exit"]),
        details=body["details"],
    )


def stop(data: DataDir) -> bool:
    """Stop the stack of a data folder and wait for its end. False if none was running.

    Also ends processes that a killed supervisor left behind.
    """
    guards = _end_guards(data)
    pid = _running_pid(data)
    if pid is not None:
        _end_supervisor(data, pid)
    with _lock(data) as taken:
        leftovers = stale.clean(data) if taken else []
    return bool(guards) or pid is not None or bool(leftovers)


def _end_guards(data: DataDir) -> list[int]:
    """End a guard before its supervisor, which it would restart."""
    guards = machine.processes_with(GUARD_MARKER, str(data.root))
    machine.kill(guards)
    return guards


def _running_pid(data: DataDir) -> int | None:
    deadline = time.monotonic() + PID_SECONDS_MAX
    while (pid := holder(data.lock_file)) == 0:  # it has the lock and has not written its process id yet
        if time.monotonic() > deadline:
            raise CommandError(
                f"A supervisor runs on {data.root}, but the file with its process id was deleted.",
                f"End the process that runs `prism_cli.stack.daemon {data.root}` or `prism up`.",
                code="supervisor_unknown",
            )
        time.sleep(PAUSE_S)
    return pid


def _end_supervisor(data: DataDir, pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if not _is_gone_within(data.lock_file, DOWN_SECONDS_MAX):
        # Its children die with it, or are found by their marks afterwards.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _is_gone_within(data.lock_file, STOP_SECONDS_MAX)


def _is_gone_within(lock_file: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while holder(lock_file) is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)
    return True


@contextlib.contextmanager
def _lock(data: DataDir) -> Iterator[bool]:
    lock = UpLock(data.lock_file)
    taken = data.root.exists() and lock.take()
    try:
        yield taken
    finally:
        lock.release()
