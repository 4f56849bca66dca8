"""Ends what a test waits for when it takes too long: a call into a page has no timeout of its own."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# Every single wait of a test ends sooner, and says for what it waited. The first test also starts the stack.
TEST_S_MAX = 240.0


class Watchdog:
    """Kills the processes that this one started, the browser first, if it is not called off in time."""

    def __init__(self, seconds: float = TEST_S_MAX) -> None:
        self._seconds = seconds
        self.has_bitten = False

    @contextmanager
    def watching(self) -> Iterator["Watchdog"]:
        """Watches a block. What it waits for fails when its process is gone."""
        timer = threading.Timer(self._seconds, self._bite)
        timer.daemon = True
        timer.start()
        try:
            yield self
        finally:
            timer.cancel()

    @property
    def reason(self) -> str:
        """What happened, for the report of the test."""
        return f"It took more than {self._seconds:.0f} s, so its browser and its commands were killed."

    def _bite(self) -> None:
        self.has_bitten = True
        for pid in reversed(descendants(os.getpid())):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def descendants(root: int) -> list[int]:
    """Returns the processes below one, parents first."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True, timeout=10
    ).stdout
    children: dict[int, list[int]] = {}
    for pid, parent in (map(int, line.split()) for line in listed.splitlines()):
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]
