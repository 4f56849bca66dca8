"""A stack of real processes on a folder of its own, and what its processes use.

CPU seconds do not depend on other load on the machine; wall time does. Memory is reported twice: RSS counts pages that
processes share once in each of them, PSS (from smaps_rollup) divides them up, so that its sum is what the stack takes
from the machine.
"""

import os
import re
import threading
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

import psutil  # type: ignore[import-untyped]

from prism_cli.stack.launch import start_in_background, stop
from prism_cli.stack.layout import DataDir, read_json
from prism_cli.target import ServerTarget
from prism_cli.up import reporter

SAMPLE_S = 0.5
PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


class Memory(NamedTuple):
    """Bytes of one process, or of several together. RSS where the system does not report PSS."""

    rss: int = 0
    pss: int = 0


class Peak(NamedTuple):
    """The peaks, each by its own measure, and the use per service at the PSS peak."""

    rss: int = 0
    pss: int = 0
    by_service: Mapping[str, int] = {}


class Stack:
    """A running stack."""

    def __init__(self, target: ServerTarget, data: DataDir) -> None:
        self.target = target
        self.data = data

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Returns processes by service, with their descendants; the supervisor included."""
        state = read_json(self.data.supervisor_file) or {}
        families: dict[int, list[psutil.Process]] = {
            state["pid"]: [],
            **{facts["pid"]: [] for facts in state["services"].values()},
        }
        supervisor = psutil.Process(state["pid"])
        families[state["pid"]].append(supervisor)
        for process in supervisor.children(recursive=True):
            families[_head(process, families)].append(process)
        services = {name: families[facts["pid"]] for name, facts in state["services"].items()}
        return {"supervisor": families[state["pid"]], **services}

    def restarts(self) -> int:
        """Returns how often a service died; figures of such a run mean little."""
        state = read_json(self.data.supervisor_file) or {}
        return sum(facts["restarts"] for facts in state["services"].values())

    def cpu_s(self) -> dict[str, float]:
        """Returns CPU seconds by service since its start, user and system."""
        return {name: sum(map(_cpu_s, family)) for name, family in self.processes().items()}

    def memory(self) -> dict[str, Memory]:
        """Returns current memory by service."""
        return {name: total(map(_memory, family)) for name, family in self.processes().items()}


@contextmanager
def running_stack(folder: Path, *, keep: bool = False) -> Iterator[Stack]:
    """Start on an empty folder, stop at the end. The stack dies with this process, unless it is kept."""
    data = DataDir(folder.resolve())
    os.environ["PRISM_CONFIG"] = os.devnull  # the settings of a benchmark are its own
    try:
        up = start_in_background(data, 0, reporter(quiet=True), tied=not keep)
        yield Stack(ServerTarget(up["url"], up["token"], data), data)
    finally:
        if not keep:
            stop(data)


def restarted(stack: Stack) -> Stack:
    """Stop a stack and start it again on its data, as soon as it is ready."""
    stop(stack.data)
    up = start_in_background(stack.data, 0, reporter(quiet=True), tied=True)
    return Stack(ServerTarget(up["url"], up["token"], stack.data), stack.data)


def total(memory: Iterable[Memory]) -> Memory:
    """Returns the total."""
    parts = list(memory)
    return Memory(sum(one.rss for one in parts), sum(one.pss for one in parts))


def spent(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Returns CPU seconds between two samples, by service."""
    return {name: round(after[name] - before.get(name, 0.0), 2) for name in after}


class Watch:
    """Samples the memory of a stack twice a second, from a thread, during its block."""

    def __init__(self, stack: Stack) -> None:
        self.peak = Peak()
        self.highest: dict[str, int] = {}  # PSS by service, each at its own highest moment
        self._stack = stack
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(SAMPLE_S):
            self._look()
        self._look()

    def _look(self) -> None:
        memory = self._stack.memory()
        rss, pss = total(memory.values())
        by_service = (
            {name: one.pss for name, one in memory.items()} if pss > self.peak.pss else self.peak.by_service
        )
        for name, one in memory.items():
            self.highest[name] = max(one.pss, self.highest.get(name, 0))
        self.peak = Peak(max(rss, self.peak.rss), max(pss, self.peak.pss), by_service)


class Stopwatch:
    """Wall and CPU seconds of a block: of each service, and of this process as `client`."""

    def __init__(self, stack: Stack) -> None:
        self.wall_s = 0.0
        self.cpu_s: dict[str, float] = {}
        self._stack = stack

    def __enter__(self) -> Self:
        self._before = self._look()
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.perf_counter() - self._started
        self.cpu_s = spent(self._before, self._look())

    def _look(self) -> dict[str, float]:
        return self._stack.cpu_s() | {"client": time.process_time()}

    def stack_cpu_s(self) -> float:
        """CPU seconds of all services together."""
        return sum(seconds for name, seconds in self.cpu_s.items() if name != "client")


def _head(process: psutil.Process, heads: Container[int]) -> int:
    """Returns the root process from which a process descends."""
    pid = int(process.pid)
    while pid not in heads:
        pid = int(psutil.Process(pid).ppid())
    return pid


def _cpu_s(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    # Children's use counts as the parent's after their end.
    ended = times.children_user + times.children_system
    return float(times.user + times.system + ended)


def _memory(process: psutil.Process) -> Memory:
    try:
        rss = int(process.memory_info().rss)
    except psutil.Error:
        return Memory()
    try:
        found = PSS.search(Path(f"/proc/{process.pid}/smaps_rollup").read_bytes())
    except OSError:
        found = None
    return Memory(rss, int(found[1]) * 1024 if found else rss)
