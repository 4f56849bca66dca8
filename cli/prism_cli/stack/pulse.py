"""The health of one life of a process: its probes, their answers, and the time without an answer."""

import time
from collections.abc import Callable

from prism_cli.stack import probes, watchdog
from prism_cli.stack.probes import Probe, ProbeResult
from prism_cli.stack.watchdog import Limits, ProcessWatch

# Between two probes of a process that is starting, and of one that is no longer ready.
STARTING_PROBE_S = 0.1
UNREADY_PROBE_S = 1.0


class Pulse:
    """Probes a process every `every_s` seconds for liveness, and less often for readiness. Never waits."""

    def __init__(
        self,
        find_port: Callable[[], int | None],
        ask: Callable[[int, str], Probe],
        limits: Limits,
        every_s: float,
    ) -> None:
        self.open_probe: Probe | None = None
        self.is_ready = False
        self.was_ready = False
        self.problem = "starting"
        self._find_port = find_port
        self._send = ask
        self._every_s = every_s
        self._watch = ProcessWatch(limits, time.monotonic())
        self._asked = 0
        self._due_at = 0.0
        self._is_about_readiness = True

    def tick(self) -> None:
        """Take the answer to the open probe, and send the next one when it is due."""
        now = time.monotonic()
        if self.open_probe is not None and self.open_probe.answer is not None:
            self._take(self.open_probe.answer, now)
            self.open_probe = None
        if self.open_probe is None and now >= self._due_at:
            self._ask(now)
        if self.is_ready and self.is_silent():
            self.is_ready, self.problem = False, "does not answer"

    def is_silent(self) -> bool:
        """Whether it has been silent for too long to be called ready."""
        return self.silent_s() >= watchdog.SILENCE_SHOWN_S

    def silent_s(self) -> float:
        """The seconds without an answer."""
        return self._watch.silent_s(time.monotonic())

    def excuse(self, seconds: float) -> None:
        """Discount the time in which the supervisor stood still."""
        self._watch.excuse(seconds)

    def complaint(self, *, has_needs: bool) -> str:
        """Why the process must be replaced although it runs; empty if it need not be."""
        return self._watch.complaint(time.monotonic(), has_needs=has_needs)

    def stop(self) -> None:
        """Stop probing: the life is over."""
        self.is_ready = False
        if self.open_probe is not None:
            self.open_probe.close()
            self.open_probe = None

    def _ask(self, now: float) -> None:
        self._due_at = now + self._pause_s()
        port = self._find_port()
        if port is None:
            return
        self._is_about_readiness = not self.is_ready or self._asked % watchdog.READY_EVERY_PROBES == 0
        self._asked += 1
        self._watch.asked(now)
        self.open_probe = self._send(
            port, probes.READY_PATH if self._is_about_readiness else probes.LIVE_PATH
        )

    def _pause_s(self) -> float:
        if self.is_ready:
            return self._every_s
        return min(self._every_s, UNREADY_PROBE_S if self.was_ready else STARTING_PROBE_S)

    def _take(self, answer: ProbeResult, now: float) -> None:
        if answer.is_alive:
            self._watch.answered(now, is_ready=not answer.problem)
        if self._is_about_readiness or answer.problem:
            self.problem = answer.problem
            self.is_ready = not answer.problem
            self.was_ready |= self.is_ready
