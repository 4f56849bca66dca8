"""Decides when to replace a process that still runs. Times and answers in, a reason out; the supervisor acts.

A probe stays open until it is answered, so a slow process is distinguished from a hanging one. Time in which
the supervisor itself stood still (a laptop asleep, a machine without a free CPU) does not count.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Self

from prism_cli.stack.backoff import HEALTHY_AFTER_S

ENV_EVERY = "PRISM_PROBE_EVERY_S"
ENV_SILENT = "PRISM_SILENT_S_MAX"
ENV_UNREADY = "PRISM_UNREADY_S_MAX"
ENV_HEALTHY = "PRISM_HEALTHY_AFTER_S"

PROBE_EVERY_S = 5.0
PROBE_EVERY_S_MIN = 0.1
# /readyz checks each consumer in NATS, so it is not called each time.
READY_EVERY_PROBES = 6
# After this time without an answer a process is no longer ready.
SILENCE_SHOWN_S = 5.0


class Limits(NamedTuple):
    """The limits of a process: time without an answer, and time not ready while its dependencies are."""

    silent_s_max: float
    unready_s_max: float


# Requests never block the event loop of a service for more than a few seconds.
SERVICE = Limits(silent_s_max=25.0, unready_s_max=180.0)
# The file list of a repository with hundreds of thousands of files is compared in one step.
INGEST = Limits(silent_s_max=60.0, unready_s_max=180.0)
# Loads models of gigabytes, and computes in native code.
DEEP = Limits(silent_s_max=120.0, unready_s_max=900.0)
# The engine holds the interpreter while it loads or flushes a collection; a restart would load again.
STORE = Limits(silent_s_max=120.0, unready_s_max=900.0)
# Written in Go: no request blocks it. Recovery of a large JetStream folder takes minutes.
BUS = Limits(silent_s_max=30.0, unready_s_max=900.0)


class Settings(NamedTuple):
    """Overrides from the environment, for operators and tests. Seconds by process name; ""
    covers all others.
    """

    probe_every_s: float = PROBE_EVERY_S
    silent_s_max: Mapping[str, float] = MappingProxyType({})
    unready_s_max: Mapping[str, float] = MappingProxyType({})
    healthy_after_s: float = HEALTHY_AFTER_S

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Raises ValueError for a value that is not a number."""
        return cls(
            max(PROBE_EVERY_S_MIN, float(environment.get(ENV_EVERY) or PROBE_EVERY_S)),
            _seconds(environment.get(ENV_SILENT, "")),
            _seconds(environment.get(ENV_UNREADY, "")),
            float(environment.get(ENV_HEALTHY) or HEALTHY_AFTER_S),
        )

    def limits(self, name: str, own: Limits) -> Limits:
        """Returns the limits of a process."""
        silent, unready = self.silent_s_max, self.unready_s_max
        return Limits(
            silent.get(name, silent.get("", own.silent_s_max)),
            unready.get(name, unready.get("", own.unready_s_max)),
        )


def _seconds(text: str) -> dict[str, float]:
    """Parses `60`, or `search=30,qdrant=300`, or both."""
    parts = (part.strip().rpartition("=") for part in text.split(",") if part.strip())
    return {name: float(seconds) for name, _, seconds in parts}


class ProcessWatch:
    """The record of one life of a process, from its first ready answer."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._silent_since: float | None = None
        self._unready_since: float | None = now

    def asked(self, now: float) -> None:
        """A probe was sent; an open one keeps its start time."""
        if self._silent_since is None:
            self._silent_since = now

    def answered(self, now: float, *, is_ready: bool) -> None:
        """The process answered."""
        self._silent_since = None
        if is_ready:
            self._unready_since = None
        elif self._unready_since is None:
            self._unready_since = now

    def excuse(self, seconds: float) -> None:
        """The supervisor stood still for this long: do not count that time."""
        if self._silent_since is not None:
            self._silent_since += seconds
        if self._unready_since is not None:
            self._unready_since += seconds

    def silent_s(self, now: float) -> float:
        """Returns the seconds without an answer; 0 without an open probe."""
        return 0.0 if self._silent_since is None else max(0.0, now - self._silent_since)

    def complaint(self, now: float, *, has_needs: bool) -> str:
        """Returns why to replace the process; empty if not. `has_needs`: whether all its dependencies are
        ready.
        """
        if self.silent_s(now) >= self._limits.silent_s_max:
            return f"no answer for {self.silent_s(now):.0f} s"
        if not has_needs and self._unready_since is not None:
            self._unready_since = now  # the cause is another process
        if self._unready_since is not None and now - self._unready_since >= self._limits.unready_s_max:
            return f"not ready for {now - self._unready_since:.0f} s"
        return ""
