"""Services and commands in processes of their own, forked from one that has loaded their modules.

A fresh Python spends seconds to load them, which is most of the time of a test with such a process.
"""

import asyncio
import multiprocessing
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import prism_cli

SERVICES = (
    "atlas",
    "chunker",
    "embedder",
    "gateway",
    "indexer",
    "ingest",
    "qdrant_local",
    "scribe",
    "search",
    "workspace",
)
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *(f"prism_{service}.main" for service in SERVICES),
        *(module.name for module in pkgutil.walk_packages(prism_cli.__path__, "prism_cli.")),
    ]
)


@asynccontextmanager
async def forked(module: str, environment: Mapping[str, str]) -> AsyncIterator[BaseProcess]:
    """Runs `python -m MODULE` in this environment; killed at the end. Its output is dropped."""
    process = start(module, environment, Path(os.devnull))
    try:
        yield process
    finally:
        process.kill()
        await asyncio.to_thread(process.join)


def start(module: str, environment: Mapping[str, str], log: Path) -> BaseProcess:
    """Starts `python -m MODULE` in this environment, whose output is appended to a file."""
    process = _FORKS.Process(target=_run_service, args=(module, dict(environment), log), daemon=True)
    process.start()
    return process


class Fork:
    """A process of `start` with the methods of `subprocess.Popen`."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self.pid, self.terminate, self.kill = process.pid, process.terminate, process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return code


def run_prism(
    arguments: Sequence[str | Path], environment: Mapping[str, str], seconds_max: float
) -> subprocess.CompletedProcess[str]:
    """Runs `prism ARGUMENTS` in this environment, without input, as `subprocess.run` does."""
    words = ["prism", *map(str, arguments)]
    with tempfile.TemporaryDirectory(prefix="prism-run-") as folder:
        written = Path(folder, "out"), Path(folder, "err")
        process = _FORKS.Process(target=_run_prism, args=(words, dict(environment), Path.cwd(), *written))
        process.start()
        process.join(seconds_max)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, seconds_max)
        texts = [path.read_text(errors="surrogateescape") for path in written]
        return subprocess.CompletedProcess(words, process.exitcode, *texts)


def _run_service(module: str, environment: Mapping[str, str], log: Path) -> None:
    _become(environment, log, log)
    sys.argv = [module]
    sys.modules.pop(module, None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _run_prism(words: list[str], environment: Mapping[str, str], cwd: Path, out: Path, err: Path) -> None:
    from prism_cli.main import main

    os.chdir(cwd)
    _become(environment, out, err)
    sys.argv = words
    main()


def _become(environment: Mapping[str, str], out: Path, err: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    appending = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    for stream, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, appending), (2, err, appending)):
        opened = os.open(path, flags, 0o644)
        os.dup2(opened, stream)
        os.close(opened)
