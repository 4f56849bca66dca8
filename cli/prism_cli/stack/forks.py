"""Services as forks of one process that has loaded their modules.

docs/decisions/0033-services-forked-from-one-process.md has the figures.
"""

import ctypes
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from prism_cli.stack import child, machine
from prism_cli.stack.backoff import Backoff
from prism_cli.stack.forkserver import LOADED, REFUSED, Order

PR_SET_CHILD_SUBREAPER = 36
# A fork server that dies before its answer is detected by the closed pipe.
ANSWER_SECONDS_MAX = 20.0
# A fork server that used no CPU for this long while it loads modules hangs. A busy machine only slows it down,
# and services that start without it would make that machine busier still.
STILL_SECONDS_MAX = 20.0
# Its pause is longer than that of a service by this factor: services start without it, and it costs CPU to
# load all modules.
PAUSES = 4


class Fork:
    """A forked service, with the interface of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Returns the exit code, None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """Wait for its end, and return the exit code."""
        return self._wait(0)

    def send_signal(self, number: int) -> None:
        """Send a signal. Does nothing if the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


class Forks:
    """The fork server of a supervisor, which becomes the parent of all forks. Main thread
    only: see child.py.
    """

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None
        self._begin: Callable[[], subprocess.Popen[bytes]] | None = None
        self._backoff = Backoff()
        self._began_at = 0.0
        self._begin_due_at: float | None = None
        self._has_loaded = False
        self._cpu_s = 0.0
        self._still_since = 0.0

    @property
    def pid(self) -> int | None:
        """The process id of the fork server, None if there is none."""
        return self._server.pid if self._server else None

    def begin(self, modules: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        """Start to load the modules. Linux only: elsewhere a process that has loaded much
        cannot fork safely.
        """
        if sys.platform != "linux":
            return
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._begin = partial(_spawn, modules, env, log)
        self._server = self._begin()
        self._watch_load()

    def _watch_load(self) -> None:
        self._began_at = self._still_since = time.monotonic()
        self._has_loaded, self._cpu_s = False, 0.0

    def is_loading(self) -> bool:
        """Whether the fork server still loads modules. Ends one that hangs."""
        if self._server is None or self._has_loaded:
            return False
        try:
            self._has_loaded = _has_answer(self._server, 0) and _read_answer(self._server) == LOADED
        except (OSError, ValueError):
            self._lose()
            return False
        if self._has_loaded:
            return False
        now, cpu_s = time.monotonic(), machine.cpu_seconds(self._server.pid)
        if cpu_s != self._cpu_s:
            self._cpu_s, self._still_since = cpu_s, now
        elif now - self._still_since > STILL_SECONDS_MAX:
            self._lose()
            return False
        return True

    def begin_again_if_due(self) -> None:
        """Replace a dead fork server after a pause: one that cannot load its modules dies each time."""
        now = time.monotonic()
        if self._begin is None or self._begin_due_at is None or now < self._begin_due_at:
            return
        try:
            self._server = self._begin()
        except OSError:
            self._plan_begin()
        else:
            self._begin_due_at = None
            self._watch_load()

    def _plan_begin(self) -> None:
        now = time.monotonic()
        self._begin_due_at = now + PAUSES * self._backoff.pause_after(now - self._began_at)

    def start(self, order: Order) -> Fork | None:
        """Fork a service if all modules are loaded. Returns None if the caller must start it as a process."""
        if self.is_loading() or self._server is None:
            return None
        try:
            return Fork(self._ask(self._server, order))
        except (OSError, ValueError):  # it has ended, or does not answer: its log has the reason
            self._lose()
            return None

    def end(self) -> None:
        """End the fork server. Its forks continue."""
        self._begin = None
        self._close()

    def _lose(self) -> None:
        self._close()
        self._plan_begin()

    def _close(self) -> None:
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            for pipe in (self._server.stdin, self._server.stdout):
                assert pipe
                pipe.close()
            self._server = None

    def reap_orphans(self, known: Collection[int | None]) -> None:
        """Reap orphans that have ended: the kernel assigns them to the supervisor."""
        if self._server is not None and self._server.poll() is not None:
            self._lose()
        while sys.platform == "linux":
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None or ended.si_pid in known:
                return
            os.waitpid(ended.si_pid, 0)

    def _ask(self, server: subprocess.Popen[bytes], order: Order) -> int:
        assert server.stdin
        os.write(server.stdin.fileno(), json.dumps(order).encode() + b"\n")
        pid = _read_answer(server)
        if pid == REFUSED:
            raise ValueError(pid)
        return pid


def _read_answer(server: subprocess.Popen[bytes]) -> int:
    """Returns the next answer. Raises OSError if there is none, ValueError if it is no number."""
    assert server.stdout
    answer = b""
    while not answer.endswith(b"\n"):
        part = os.read(server.stdout.fileno(), 1) if _has_answer(server, ANSWER_SECONDS_MAX) else b""
        if not part:
            raise BrokenPipeError
        answer += part
    return int(answer)


def _has_answer(server: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether there is something to read, or the pipe is closed."""
    assert server.stdout
    return bool(select.select([server.stdout], [], [], seconds)[0])


def _spawn(modules: Sequence[str], env: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    supervisor = str(os.getpid())
    tie = (sys.executable, "-I", "-S", str(child.__file__), supervisor)
    with log.open("ab") as errors:
        return subprocess.Popen(
            [*tie, sys.executable, "-P", "-m", "prism_cli.stack.forkserver", supervisor, *modules],
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
