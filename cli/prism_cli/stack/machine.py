"""Queries to the operating system about processes. The only module that uses psutil."""

import os
from collections.abc import Iterable
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]

END_SECONDS_MAX = 5.0


def processes_with(variable: str, value: str) -> list[int]:
    """Returns all other processes that were started with an environment variable of this value."""
    return [
        process.pid
        for process in psutil.process_iter()
        if process.pid != os.getpid() and _environment(process).get(variable) == value
    ]


def kill(pids: Iterable[int]) -> None:
    """End processes and wait for them. Processes that have ended already are ignored."""
    found = [process for process in map(_find, pids) if process is not None]
    for process in found:
        try:
            process.kill()
        except psutil.Error:
            continue
    psutil.wait_procs(found, timeout=END_SECONDS_MAX)


class Memory(NamedTuple):
    """The memory of processes in bytes: the first counts shared pages in full, the second the process's share
    of them.
    """

    rss: int
    pss: int  # equal to the first where the system does not report it

    def __add__(self, other: object) -> "Memory":
        assert isinstance(other, Memory)
        return Memory(self.rss + other.rss, self.pss + other.pss)


NO_MEMORY = Memory(0, 0)


def memory(pid: int | None, *, family: bool) -> Memory | None:
    """Returns the memory of a process, and with `family` of its descendants; None if it has ended."""
    process = None if pid is None else _find(pid)
    if process is None:
        return None
    try:
        children = process.children(recursive=True) if family else []
    except psutil.Error:
        return None
    return sum(map(_memory, (process, *children)), NO_MEMORY)


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time that a process has used, 0 if it has ended."""
    process = _find(pid)
    try:
        times = process.cpu_times() if process else None
    except psutil.Error:
        times = None
    return times.user + times.system if times else 0.0


def _find(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return dict(process.environ())
    except (psutil.Error, OSError):  # of another user, or ended
        return {}


def _memory(process: psutil.Process) -> Memory:
    try:
        found = process.memory_full_info()
    except (psutil.Error, OSError):
        return NO_MEMORY
    return Memory(int(found.rss), int(getattr(found, "pss", 0) or found.rss))
