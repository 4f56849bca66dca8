"""One supervised process: started, watched, started again after a death, stopped."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from prism_cli.stack import child
from prism_cli.stack.backoff import Backoff
from prism_cli.stack.forks import Fork, Forks
from prism_cli.stack.forkserver import Order
from prism_cli.stack.logs import rotate
from prism_cli.stack.specs import Spec


class Child:
    """A process of the stack over all its lives."""

    def __init__(self, spec: Spec, log: Path, folder: Path, forks: Forks) -> None:
        self.spec = spec
        self.log = log
        self.port: int | None = None
        self.ready = False
        self.restarts = 0
        self.last_exit: int | None = None
        self.problem = "not started"
        self.pause_s = 0.0
        self._start_due_at: float | None = None
        self._folder = folder
        self._forks = forks
        self._backoff = Backoff()
        self._started_at = 0.0
        self._process: subprocess.Popen[bytes] | Fork | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def pid(self) -> int | None:
        """The process id, None between two lives."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Begin a life. Only from the main thread: see child.py."""
        self.forget_announcements()
        rotate(self.log)
        self._process = self._forked() or self._spawned()
        self._started_at = time.monotonic()
        self._start_due_at = None
        self.ready = False
        self.problem = "starting"

    def _forked(self) -> Fork | None:
        if not self.spec.module:
            return None
        return self._forks.start(Order(self.spec.module, self.spec.env, str(self._folder), str(self.log)))

    def _spawned(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", str(child.__file__), str(os.getpid()), *self.spec.argv],
                env=self.spec.env,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A group of its own: Ctrl-C reaches the supervisor only, and what a dead child leaves behind
                # can be ended with it.
                start_new_session=True,
            )

    def forget_announcements(self) -> None:
        """Remove the files in which an earlier life said its port."""
        for path in self.spec.announced_in:
            path.unlink(missing_ok=True)

    def has_died(self) -> bool:
        """Whether a life ended since the last call; then the next one is due after a pause."""
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None:
            return False
        self._end_group()
        now = time.monotonic()
        self.last_exit = code
        self.ready = False
        self.problem = describe_exit(code)
        self.pause_s = self._backoff.pause_after(now - self._started_at)
        self._start_due_at = now + self.pause_s
        self._process = None
        return True

    def restart_if_due(self) -> bool:
        """Begin the next life if its time has come."""
        if self._start_due_at is None or time.monotonic() < self._start_due_at:
            return False
        self.restarts += 1
        self.start()
        return True

    def becomes_ready(self) -> bool:
        """Whether it is ready now and was not before."""
        if self.ready or self._process is None:
            return False
        port = self.spec.find_port(self._process.pid)
        if port is None:
            return False
        if port != self.port:
            self.port = port
            self.spec = self.spec.pin(self.spec, port)
        self.problem = self.spec.problem(port)
        self.ready = not self.problem
        return self.ready

    def terminate(self) -> None:
        """Ask it to stop; it will not be started again."""
        self._start_due_at = None
        self.ready = False
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """End it and all that it started, now."""
        if self._process is None:
            return
        self._end_group()
        self._process.wait()
        self._process = None

    def _end_group(self) -> None:
        assert self._process
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def describe_exit(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"
