"""Questions to the operating system about processes. The one place that knows psutil."""

import os
from collections.abc import Iterable
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]

END_SECONDS_MAX = 5.0


def processes_with(variable: str, value: str) -> list[int]:
    """The processes, but this one, that were started with an environment variable of this value."""
    return [
        process.pid
        for process in psutil.process_iter()
        if process.pid != os.getpid() and _environment(process).get(variable) == value
    ]


def kill(pids: Iterable[int]) -> None:
    """End processes and wait until they are gone. Those that are gone already are fine."""
    found = [process for process in map(_find, pids) if process is not None]
    for process in found:
        try:
            process.kill()
        except psutil.Error:
            continue
    psutil.wait_procs(found, timeout=END_SECONDS_MAX)


class Memory(NamedTuple):
    """Memory of processes in bytes. What is shared with others counts whole in the first, and its share in the second."""

    rss: int
    pss: int  # as the first where the system does not tell

    def __add__(self, other: object) -> "Memory":
        assert isinstance(other, Memory)
        return Memory(self.rss + other.rss, self.pss + other.pss)


NO_MEMORY = Memory(0, 0)


def memory(pid: int | None, *, family: bool) -> Memory | None:
    """Memory of a process, and with `family` of what it started; None if it is gone."""
    process = None if pid is None else _find(pid)
    if process is None:
        return None
    try:
        children = process.children(recursive=True) if family else []
    except psutil.Error:
        return None
    return sum(map(_memory, (process, *children)), NO_MEMORY)


def _find(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return dict(process.environ())
    except (psutil.Error, OSError):  # of another user, or gone
        return {}


def _memory(process: psutil.Process) -> Memory:
    try:
        found = process.memory_full_info()
    except (psutil.Error, OSError):
        return NO_MEMORY
    return Memory(int(found.rss), int(getattr(found, "pss", 0) or found.rss))
