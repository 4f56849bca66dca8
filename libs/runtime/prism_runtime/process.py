"""A service as a process: start in order, serve its health, stop in order on SIGTERM or SIGINT.

The order of the end: `/readyz` answers 503 while everything is still served; running HTTP requests are finished,
and no connection is accepted any more; NATS is left. A second signal ends the process at once.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from prism_runtime.garbage import collect_rarely, release_regularly
from prism_runtime.http_deadlines import DeadlineProtocol
from prism_runtime.patience import StartError
from prism_runtime.settings import InvalidSettingsError
from prism_runtime.stacks import show_on_signal
from prism_runtime.stoppable_app import Phase, StoppableApp
from prism_runtime.stopping import CUT_SHORT_S
from prism_runtime.tasks import cancelled

log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# The exit code of a process that a second signal ended, as a shell counts: this plus the signal's number.
SIGNAL_EXIT = 128
# How long running HTTP requests may take to finish.
REQUESTS_FINISH_S = 5


class _UvicornServer(uvicorn.Server):
    """Uvicorn without its signal handlers."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass(frozen=True)
class Lifecycle:
    """What a service does from its start to its end."""

    start: Callable[[], Coroutine[object, object, None]]
    # After the first signal, while HTTP still answers.
    drain: Callable[[], Awaitable[None]]
    # Called when HTTP requests take too long to finish. Each of them gets an answer then.
    cut_short: Callable[[], None]
    # Called after the last HTTP answer.
    stop: Callable[[], Awaitable[None]]


async def run_process(
    service: str, app: ASGIApp, *, host: str, port: int, run_dir: str, lifecycle: Lifecycle
) -> None:
    """Listen first (so that liveness answers), then start, then wait for a signal, then end in order.

    The socket's address is written to `<run_dir>/<service>.json` as `{"pid", "host", "port"}`.
    """
    listener = socket.create_server((host, port))
    # Uvicorn sets this only on its own sockets. Without it, a response waits 40 ms for a TCP acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stoppable = StoppableApp(app)
    server = _server(stoppable)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    releasing = asyncio.create_task(release_regularly())
    signalled = _on_signals()
    try:
        await _until_first(serving, lifecycle.start(), signalled.wait())
        if not signalled.is_set():
            stoppable.phase = Phase.SERVING
            _announce(service, host, listener.getsockname()[1], run_dir)
            log.info("%s is running on port %d", service, listener.getsockname()[1])
            await _until_first(serving, signalled.wait())
            log.info("%s stops", service)
            stoppable.phase = Phase.STOPPING
            await lifecycle.drain()
    finally:
        releasing.cancel()
        await _end_http(server, serving, lifecycle.cut_short)
        await lifecycle.stop()


def _server(app: ASGIApp) -> _UvicornServer:
    return _UvicornServer(
        uvicorn.Config(
            app,
            http=DeadlineProtocol,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=REQUESTS_FINISH_S + CUT_SHORT_S,
            lifespan="on",
        )
    )


def _on_signals() -> asyncio.Event:
    """Returns an event that the first signal sets. The second one ends the process."""
    signalled = asyncio.Event()

    def on_signal(number: int) -> None:
        if signalled.is_set():
            log.warning("a second signal: this process ends at once")
            os._exit(SIGNAL_EXIT + number)
        signalled.set()

    for number in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    return signalled


async def _end_http(
    server: _UvicornServer, serving: asyncio.Task[None], cut_short: Callable[[], None]
) -> None:
    """Accept no more connections, and return when the running requests have their answers."""
    server.should_exit = True
    cutting = asyncio.get_running_loop().call_later(REQUESTS_FINISH_S, cut_short)
    await asyncio.wait([serving])
    cutting.cancel()


async def _until_first(serving: asyncio.Task[None], *work: Coroutine[object, object, object]) -> None:
    """Wait for the first task, end the others, and raise its error."""
    tasks = [asyncio.create_task(item) for item in work]
    done, _ = await asyncio.wait([serving, *tasks], return_when=asyncio.FIRST_COMPLETED)
    await cancelled(*tasks)
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
    """Run an async main function, on uvloop if it is installed.

    Invalid settings and a StartError end the process with a message.
    """
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
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.code)
