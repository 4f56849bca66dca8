"""Services in processes of their own, forked from one that has loaded their modules.

A fresh Python spends a second or two to load them, which is most of the time of a test with such a process.
"""

import asyncio
import multiprocessing
import os
import runpy
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from multiprocessing.process import BaseProcess

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["prism_atlas.main", "prism_indexer.main", "prism_search.main"])


@asynccontextmanager
async def forked(module: str, environment: Mapping[str, str]) -> AsyncIterator[BaseProcess]:
    """Runs `python -m MODULE` in this environment; killed at the end. Its output is dropped."""
    process = _FORKS.Process(target=_become, args=(module, dict(environment)), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        await asyncio.to_thread(process.join)


def _become(module: str, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())
    sys.argv = [module]
    sys.modules.pop(module, None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)
