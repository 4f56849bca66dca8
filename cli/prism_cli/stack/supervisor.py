"""The supervisor: starts the stack in order, waits until it is ready, keeps it running, stops it.

One thread, which sleeps until a child dies, a signal or an answer arrives, or something is due. It never
handles data, and once the stack is up a full or read-only disk does not end it.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from prism_cli.exits import CommandError, Exit
from prism_cli.stack import formats, probes, specs, stale, watchdog
from prism_cli.stack.forks import Forks
from prism_cli.stack.layout import DataDir, read_json, write_json
from prism_cli.stack.lock import UpLock, holder
from prism_cli.stack.logs import rotate, tail
from prism_cli.stack.process import Child
from prism_cli.stack.specs import Door, Spec

# Without a process that became ready.
START_SECONDS_MAX = 120.0
# A service that dies this often before its first readiness will not recover on its own.
START_DEATHS_MAX = 3
STOP_SECONDS_MAX = 15.0
# During starts and stops, and while nothing happens. A death, a signal or an answer ends a sleep at once.
TICK_S = 0.05
IDLE_TICK_S = 1.0
# A tick that is this much later than planned means that this process stood still as well.
LATE_S = 1.0
LOG_LINES_SHOWN = 8
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Note(NamedTuple):
    """An event for the user."""

    kind: str  # starting, ready, unwell, died, restarted, up, stopping, stopped, failed
    text: str
    service: str = ""


Report = Callable[[Note], None]


class StopRequestedError(Exception):
    """A signal arrived while the stack was starting."""


class Supervisor:
    """The stack on one data folder."""

    def __init__(self, data: DataDir, port: int, report: Report) -> None:
        self._data = data
        self._wanted_port = port
        self._report_to = report
        self._lock = UpLock(data.lock_file)
        self._forks = Forks()
        self._children: list[Child] = []
        self._state = "starting"
        self._signals = 0
        self._wakeups = -1
        self._settings = _settings()
        self._next_tick_at = time.monotonic()
        self._written: dict[str, Any] | None = None

    def run(self) -> None:
        """Start the stack, watch it until a signal, and stop it. Raises CommandError if it
        does not come up.
        """
        try:
            self._data.create()
            self._take_lock()
        except OSError as error:
            raise unusable(self._data, error) from error
        try:
            formats.check(self._data)
            self._listen_to_signals()
            self._start()
            self._watch()
        except StopRequestedError:
            pass
        except OSError as error:
            raise unusable(self._data, error) from error
        finally:
            self._stop()
            self._lock.release()

    def _take_lock(self) -> None:
        if not self._lock.take():
            raise already_running(self._data)
        ended = stale.clean(self._data)
        if ended:
            self._report(Note("starting", f"ended {len(ended)} processes that an earlier run left behind"))

    def _listen_to_signals(self) -> None:
        self._wakeups, write_end = os.pipe()
        for end in (self._wakeups, write_end):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_stop_signal)

    def _on_stop_signal(self, _: int, __: FrameType | None) -> None:
        self._signals += 1

    def _start(self) -> None:
        door = Door(self._gateway_port(), self._data.token())
        self._forks.begin(specs.forked_modules(), specs.base_env(self._data), self._data.supervisor_log)
        bus = self._launch([specs.nats_spec(self._data)])
        self._await_forks()
        foundation = bus + self._launch([specs.qdrant_spec(self._data)])
        self._await(foundation)
        nats_port, qdrant_port = (child.port for child in foundation)
        assert nats_port
        assert qdrant_port
        self._await(self._launch(specs.service_specs(self._data, nats_port, qdrant_port, door)))
        self._state = "ready"
        self._write_state()
        write_json(self._data.up_file, self._description(door))
        self._report(Note("up", door.url))

    def _gateway_port(self) -> int:
        if self._wanted_port == 0:
            return probes.free_port()
        if not probes.is_port_free(self._wanted_port):
            raise CommandError(
                f"Port {self._wanted_port} is in use by another program.",
                "Choose another one with --port N, or --port 0 for any free one.",
                code="port_in_use",
                exit_code=Exit.PORT_IN_USE,
            )
        return self._wanted_port

    def _description(self, door: Door) -> dict[str, Any]:
        return {
            "url": door.url,
            "mcp_url": door.mcp_url,
            "token": door.token,
            "pid": os.getpid(),
            "data_dir": str(self._data.root),
        }

    def _launch(self, wanted: Iterable[Spec]) -> list[Child]:
        children = [
            Child(spec, self._data.log(spec.name), self._data.run, self._forks, self._settings)
            for spec in wanted
        ]
        for child in children:
            child.start()
            self._children.append(child)
        self._write_state()
        return children

    def _await_forks(self) -> None:
        """Wait until services can be forked, or until it is known that they cannot."""
        while self._forks.is_loading():
            self._pause_of_start()

    def _await(self, children: list[Child]) -> None:
        ready, deadline = 0, time.monotonic() + START_SECONDS_MAX
        while ready < len(children):
            self._pause_of_start()
            if (now_ready := sum(child.ready for child in children)) > ready:
                ready, deadline = now_ready, time.monotonic() + START_SECONDS_MAX
            for child in children:
                self._give_up_on(child, late=time.monotonic() > deadline)

    def _pause_of_start(self) -> None:
        self._tend()
        if self._signals:
            raise StopRequestedError
        self._sleep(TICK_S)

    def _give_up_on(self, child: Child, *, late: bool) -> None:
        if child.ready or not (late or child.restarts >= START_DEATHS_MAX):
            return
        lines = "\n".join(f"  {line}" for line in tail(child.log, LOG_LINES_SHOWN))
        reason = (
            f"not ready after {START_SECONDS_MAX:g} s ({child.problem})"
            if late
            else f"died {child.restarts + 1} times ({child.last_exit})"
        )
        raise CommandError(
            f"{child.name} did not start: {reason}.\nLast lines of {child.log}:\n{lines}",
            "Read the log above, then run `prism doctor`.",
            code="start_failed",
            exit_code=Exit.START_FAILED,
            details={"service": child.name, "log": str(child.log)},
        )

    def _watch(self) -> None:
        while not self._signals:
            self._tend()
            self._sleep(TICK_S if any(child.is_starting for child in self._children) else IDLE_TICK_S)
            for child in self._children:
                rotate(child.log)

    def _tend(self) -> None:
        """Check every child once for deaths, hangs, due starts and new readiness."""
        self._excuse_delay()
        for child in self._children:
            try:
                self._tend_one(child)
            except OSError as error:  # no disk space, no file handles: the next tick retries
                _complain(f"cannot supervise {child.name}: {error}")
        self._forks.reap_orphans([child.pid for child in self._children])
        self._forks.begin_again_if_due()
        self._write_state()

    def _excuse_delay(self) -> None:
        late_s = time.monotonic() - self._next_tick_at
        if late_s > LATE_S:
            for child in self._children:
                child.excuse(late_s)

    def _tend_one(self, child: Child) -> None:
        before = child.state
        if child.has_died():
            text = f"{child.name} died ({child.problem}); restarting it in {child.pause_s:.1f} s"
            self._report(Note("died", text, child.name))
            return
        if child.restart_if_due():
            return
        child.probe()
        complaint = child.complaint(has_needs=self._has_needs(child))
        if complaint:
            self._report(Note("unwell", f"{child.name} hangs ({complaint}); replacing it", child.name))
            child.replace(complaint)
        elif child.state != before:
            self._report(_change_of(child, before))

    def _has_needs(self, child: Child) -> bool:
        return all(other.ready for other in self._children if other.name in child.spec.needs)

    def _sleep(self, seconds: float) -> None:
        """Sleep until the time is over, a child died or answered, or a signal arrived."""
        self._next_tick_at = time.monotonic() + seconds
        open_probes = [
            child.open_probe
            for child in self._children
            if child.open_probe is not None and child.open_probe.answer is None
        ]
        if probes.advance(open_probes, seconds, self._wakeups):
            os.read(self._wakeups, 1024)

    def _stop(self) -> None:
        self._forks.end()
        _remove(self._data.up_file)
        if not self._children:
            return
        self._state = "stopping"
        self._write_state()
        self._report(Note("stopping", "stopping"))
        requests_seen = self._signals
        for group in self._stop_order():
            self._stop_group(group, requests_seen)
        for child in self._children:
            for path in child.spec.announced_in:
                _remove(path)
        _remove(self._data.supervisor_file)
        self._report(Note("stopped", "stopped"))

    def _stop_order(self) -> list[list[Child]]:
        """Stop the intake first, then the workers concurrently, then the store, then the bus."""
        named = {child.name: child for child in self._children}
        workers = [name for name in named if name not in (specs.GATEWAY, specs.QDRANT, specs.NATS)]
        order = ([specs.GATEWAY], workers, [specs.QDRANT], [specs.NATS])
        return [[named[name] for name in group if name in named] for group in order]

    def _stop_group(self, group: list[Child], requests_seen: int) -> None:
        for child in group:
            child.terminate()
        deadline = time.monotonic() + STOP_SECONDS_MAX
        while any(child.is_alive() for child in group):
            # A second signal means that the user does not want to wait.
            if time.monotonic() > deadline or self._signals > max(1, requests_seen):
                break
            self._sleep(TICK_S)
        for child in group:
            child.end()

    def _report(self, note: Note) -> None:
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {note.kind}: {note.text}\n"
        try:
            with self._data.supervisor_log.open("a") as log:
                log.write(line)
        except OSError as error:
            _complain(f"{line.rstrip()} (not logged: {error})")
        self._report_to(note)

    def _write_state(self) -> None:
        """Write the state if it changed or was deleted, else touch the file. A later tick
        retries a failure.
        """
        state = {
            "pid": os.getpid(),
            "forkserver_pid": self._forks.pid,
            "state": self._state,
            "services": {child.name: _child_state(child) for child in self._children},
        }
        with contextlib.suppress(OSError):
            if state == self._written and self._data.supervisor_file.exists():
                os.utime(
                    self._data.supervisor_file
                )  # its age shows that this process is alive: see live.py and guard.sh
                return
            write_json(self._data.supervisor_file, state)
            self._written = state


def _child_state(child: Child) -> dict[str, Any]:
    return {
        "pid": child.pid,
        "port": child.port,
        "ready": child.ready,
        "state": child.state,
        "problem": child.problem,
        "restarts": child.restarts,
        "last_exit": child.last_exit,
        "log": str(child.log),
    }


def _change_of(child: Child, before: str) -> Note:
    """Returns the event of a child whose state has changed."""
    if child.state != "ready":
        return Note("unwell", f"{child.name}: {child.state} ({child.problem})", child.name)
    if before != "starting":
        return Note("restarted", f"{child.name} is ready again", child.name)
    back = "is back" if child.restarts else "is ready"
    kind = "restarted" if child.restarts else "ready"
    return Note(kind, f"{child.name} {back} (process {child.pid})", child.name)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _complain(text: str) -> None:
    """Last resort of a supervisor whose log is not writable; standard error may be closed as well."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _settings() -> watchdog.Settings:
    try:
        return watchdog.Settings.read()
    except ValueError as error:
        raise CommandError(
            f"{watchdog.ENV_EVERY}, {watchdog.ENV_SILENT} or {watchdog.ENV_UNREADY} is not a number: {error}.",
            "Give seconds, such as `60` or `search=30,qdrant=300`.",
            code="setting_invalid",
            exit_code=Exit.USAGE,
        ) from error


def unusable(data: DataDir, error: OSError) -> CommandError:
    """Returns the error of an `up` that cannot write its files."""
    return CommandError(
        f"The stack cannot run on {data.root}: {error.strerror or error}.",
        "Free space on the disk, or make the folder writable. Then run `prism up` again.",
        code="data_dir_unusable",
        exit_code=Exit.START_FAILED,
    )


def already_running(data: DataDir) -> CommandError:
    """Returns the error of a second `up`."""
    pid = holder(data.lock_file)
    up = read_json(data.up_file) or {}
    where = f" at {up['url']}" if up.get("url") else ", and is still starting"
    return CommandError(
        f"Prism already runs on {data.root}: process {pid}{where}.",
        "Use it (`prism status`), stop it with `prism down`, or choose another --data-dir.",
        code="already_running",
        exit_code=Exit.ALREADY_RUNNING,
        details={"pid": pid, "url": up.get("url", ""), "data_dir": str(data.root)},
    )
