"""A supervised process: start, probes, restart after death or a hang, stop."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from prism_cli.stack import child, watchdog
from prism_cli.stack.backoff import Backoff
from prism_cli.stack.forks import Fork, Forks
from prism_cli.stack.forkserver import Order
from prism_cli.stack.logs import rotate
from prism_cli.stack.probes import Probe
from prism_cli.stack.pulse import Pulse
from prism_cli.stack.specs import Spec

# On this signal a service writes the stacks of its threads to its log (see prism_runtime.stacks), within this
# time.
STACK_SIGNAL = signal.SIGUSR2
STACK_PAUSE_S = 0.2


class Child:
    """A process of the stack, over all its lives."""

    def __init__(
        self, spec: Spec, log: Path, folder: Path, forks: Forks, settings: watchdog.Settings
    ) -> None:
        self.spec = spec
        self.log = log
        self.port: int | None = None
        self.restarts = 0
        self.last_exit: str | None = None
        self.pause_s = 0.0
        self._folder = folder
        self._forks = forks
        self._settings = settings
        self._backoff = Backoff(settings.healthy_after_s)
        self._pulse = self._new_pulse()
        self._trouble = "not started"
        self._complaint = ""
        self._started_at = 0.0
        self._start_due_at: float | None = None
        self._process: subprocess.Popen[bytes] | Fork | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def pid(self) -> int | None:
        """The process id, None between two lives."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start a life. Main thread only: see child.py. Raises OSError."""
        self.forget_announcements()
        rotate(self.log)
        self._process = self._forked() or self._spawned()
        self._started_at = time.monotonic()
        self._start_due_at = None
        self._pulse = self._new_pulse()
        self._complaint = self._trouble = ""

    def _new_pulse(self) -> Pulse:
        limits = self._settings.limits(self.name, self.spec.limits)
        return Pulse(self._find_port, self.spec.ask, limits, self._settings.probe_every_s)

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
                # Its own process group: Ctrl-C reaches the supervisor only, and descendants of a dead child
                # can be ended with the group.
                start_new_session=True,
            )

    def forget_announcements(self) -> None:
        """Remove the files in which an earlier life announced its port."""
        for path in self.spec.announced_in:
            path.unlink(missing_ok=True)

    @property
    def ready(self) -> bool:
        """Whether it has reported that it is ready, and answers."""
        return self._pulse.is_ready

    @property
    def problem(self) -> str:
        """Why it is not ready."""
        return self._trouble or self._pulse.problem

    @property
    def open_probe(self) -> Probe | None:
        """The probe without an answer yet."""
        return self._pulse.open_probe

    @property
    def state(self) -> str:
        """Its state, in a few words."""
        if self._complaint:
            return "hung, restarting"
        if self._process is None:
            return "died, restarting" if self._start_due_at is not None else "stopped"
        if self.ready:
            return "ready"
        if not self._pulse.was_ready:
            return "starting"
        return "not answering" if self._pulse.is_silent() else "not ready"

    @property
    def is_starting(self) -> bool:
        """Whether it is expected to become ready or to start soon."""
        return self._start_due_at is not None or not self._pulse.was_ready

    def has_died(self) -> bool:
        """Whether a life ended since the last call; then the next one is due after a pause."""
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None:
            return False
        self._end_group()
        self.last_exit = self._trouble = ": ".join(filter(None, (self._complaint, describe_exit(code))))
        self._process = None
        self._begin_pause(time.monotonic() - self._pulse.silent_s() - self._started_at)
        return True

    def _begin_pause(self, lived_s: float) -> None:
        self._pulse.stop()
        self.pause_s = self._backoff.pause_after(lived_s)
        self._start_due_at = time.monotonic() + self.pause_s

    def restart_if_due(self) -> bool:
        """Start the next life if it is due. Retried after a pause if the system refuses."""
        if self._start_due_at is None or time.monotonic() < self._start_due_at:
            return False
        try:
            self.start()
        except OSError as error:  # no disk space, no memory, no file handles
            self._trouble = f"cannot be started: {error}"
            self._begin_pause(lived_s=0.0)
            return False
        self.restarts += 1
        return True

    def probe(self) -> None:
        """Take the answer to the open probe, and send the next one when it is due. Never waits."""
        if self._process is not None and not self._complaint:
            self._pulse.tick()

    def _find_port(self) -> int | None:
        assert self._process
        if self._pulse.was_ready:
            return self.port
        port = self.spec.find_port(self._process.pid)
        if port is not None and port != self.port:
            self.port = port
            self.spec = self.spec.pin(self.spec, port)
        return port

    def excuse(self, seconds: float) -> None:
        """Discount the time in which the supervisor stood still."""
        self._pulse.excuse(seconds)

    def complaint(self, *, has_needs: bool) -> str:
        """Why it must be replaced although it runs; empty if it need not be."""
        if self._process is None or self._complaint:
            return ""
        return self._pulse.complaint(has_needs=has_needs)

    def replace(self, complaint: str) -> None:
        """Kill a hanging process. Its death is handled like any other, and the next life starts after a
        pause.
        """
        assert self._process
        self._complaint = self._trouble = complaint
        self._pulse.stop()
        if self.spec.module:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, STACK_SIGNAL)
            time.sleep(STACK_PAUSE_S)
        self._end_group()

    def terminate(self) -> None:
        """Ask it to stop; it is not restarted."""
        self._pulse.stop()
        self._start_due_at = None
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """Kill it and all its descendants."""
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
    """Returns how a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"
