"""Questions to the operating system about processes. The one place that knows psutil."""

import os
from collections.abc import Iterable

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


def resident_bytes(pid: int | None, *, family: bool) -> int | None:
    """Resident memory of a process, and with `family` of what it started; None if it is gone."""
    process = None if pid is None else _find(pid)
    if process is None:
        return None
    try:
        children = process.children(recursive=True) if family else []
        return sum(_resident_bytes(one) for one in (process, *children))
    except psutil.Error:
        return None


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


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
