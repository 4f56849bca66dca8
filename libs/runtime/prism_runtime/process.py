"""A service as a process: start in order, serve its health, stop in order on SIGTERM or SIGINT."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from prism_runtime.garbage import collect_rarely, release_regularly
from prism_runtime.http_deadlines import DeadlineProtocol
from prism_runtime.settings import InvalidSettingsError
from prism_runtime.stacks import show_on_signal

log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _UvicornServer(uvicorn.Server):
    """Uvicorn without its signal handlers."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def run_process(
    service: str,
    app: ASGIApp,
    *,
    host: str,
    port: int,
    run_dir: str,
    start: Callable[[], Coroutine[object, object, None]],
    stop: Callable[[], Awaitable[None]],
) -> None:
    """Listen first (so that liveness answers), then `start`, then wait for a signal, then `stop`.

    The socket's address is written to `<run_dir>/<service>.json` as `{"pid", "host", "port"}`.
    """
    listener = socket.create_server((host, port))
    # Uvicorn sets this only on its own sockets. Without it, a response waits 40 ms for a TCP acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = _UvicornServer(
        uvicorn.Config(
            app,
            http=DeadlineProtocol,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
            lifespan="on",
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    releasing = asyncio.create_task(release_regularly())
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sig in STOP_SIGNALS:
        loop.add_signal_handler(sig, stopped.set)
    try:
        await _until_first(serving, start(), stopped.wait())
        if not stopped.is_set():
            _announce(service, host, listener.getsockname()[1], run_dir)
            log.info("%s is running on port %d", service, listener.getsockname()[1])
            await _until_first(serving, stopped.wait())
    finally:
        log.info("%s stops", service)
        releasing.cancel()
        await stop()
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serving


async def _until_first(serving: asyncio.Task[None], *work: Coroutine[object, object, object]) -> None:
    """Wait for the first task, cancel the others, and raise its error."""
    tasks = [asyncio.create_task(item) for item in work]
    done, _ = await asyncio.wait([serving, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    for task in done:
        task.result()


def _announce(service: str, host: str, port: int, run_dir: str) -> None:
    if not run_dir:
        return
    target = Path(run_dir) / f"{service}.json"
    partial = target.with_suffix(".partial")
    partial.write_text(json.dumps({"pid": os.getpid(), "host": host, "port": port}))
    partial.replace(target)


def run(main: Callable[[], Coroutine[object, object, None]]) -> None:
    """Run an async main function, on uvloop if it is installed. Invalid settings end the process."""
    collect_rarely()
    show_on_signal()
    try:
        import uvloop
    except ImportError:
        start = asyncio.run
    else:
        start = uvloop.run
    try:
        start(main())
    except InvalidSettingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(os.EX_CONFIG)
