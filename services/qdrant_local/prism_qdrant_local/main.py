"""`python -m prism_qdrant_local.main`: open the data folder, serve until a signal, flush, exit."""

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import structlog
import uvicorn
import uvloop

from prism_qdrant_local.app import App
from prism_qdrant_local.compaction import compact, is_worthwhile
from prism_qdrant_local.settings import QdrantLocalSettings
from prism_qdrant_local.state import replace_file
from prism_qdrant_local.store import Collection, Store
from prism_qdrant_local.system import release_pages
from prism_runtime.exposure import require_secrets
from prism_runtime.garbage import release_heap
from prism_runtime.room import Room
from prism_runtime.settings import InvalidSettingsError
from prism_runtime.stacks import show_on_signal

EXIT_FOLDER_IN_USE = 3
PORT_FILE = "qdrant.port"
_LOCK_FILE = "qdrant.lock"
# Seconds for requests in flight to finish after SIGTERM.
_SHUTDOWN_S = 10
_BACKLOG_CONNECTIONS = 1_024

logger = structlog.stdlib.get_logger()


def main() -> int:
    """Run the server; return the exit code."""
    _configure_logging()
    show_on_signal()
    try:
        settings = _settings()
    except InvalidSettingsError as error:
        sys.stderr.write(f"{error}\n")
        return os.EX_CONFIG
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with _lock(settings.data_dir / _LOCK_FILE) as lock:
        if lock is None:
            logger.error("another server is using this data folder", data_dir=str(settings.data_dir))
            return EXIT_FOLDER_IN_USE
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings))
    return 0


def _settings() -> QdrantLocalSettings:
    settings = QdrantLocalSettings()
    require_secrets(
        (settings.host,),
        {"PRISM_QDRANT_LOCAL_API_KEY": settings.api_key},
        allow_missing=settings.allow_missing_secrets,
        switch="PRISM_QDRANT_LOCAL_ALLOW_MISSING_SECRETS",
    )
    return settings


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[IO[bytes] | None]:
    """Hold the lock file; None if another process holds it. The system releases it if this process dies."""
    with path.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield file


async def _serve(settings: QdrantLocalSettings) -> None:
    port_file = settings.data_dir / PORT_FILE
    port_file.unlink(missing_ok=True)
    listener = _listen(settings)
    store = Store(settings.data_dir)
    port = listener.getsockname()[1]
    server = _Server(App(store, settings), port_file, port)
    housekeeping = [
        asyncio.create_task(_flush_regularly(store, settings.flush_interval_s)),
        asyncio.create_task(
            _compact_at_rest(
                store,
                settings.compaction_idle_s,
                Room(str(settings.data_dir), settings.disk_free_bytes_min),
            )
        ),
    ]
    try:
        await server.serve(sockets=[listener])
    finally:
        for task in housekeeping:
            task.cancel()
        await asyncio.wait(housekeeping)
        port_file.unlink(missing_ok=True)
        store.close()
        logger.info("stopped", port=port)


def _listen(settings: QdrantLocalSettings) -> socket.socket:
    listener = socket.create_server((settings.host, settings.port), backlog=_BACKLOG_CONNECTIONS)
    # Accepted connections inherit it; without it a small answer waits 40 ms for the client's delayed ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)  # noqa: FBT003 - a positional of the standard library
    return listener


class _Server(uvicorn.Server):
    """uvicorn that announces its port when it is ready, and exits with 0 after a signal."""

    def __init__(self, app: App, port_file: Path, port: int) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
                ws="none",
                lifespan="off",
                interface="asgi3",
                access_log=False,
                log_config=None,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=_SHUTDOWN_S,
            )
        )
        self._port_file = port_file
        self._port = port

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        replace_file(self._port_file, str(self._port).encode())
        logger.info("ready", port=self._port)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        self.should_exit = True


async def _flush_regularly(store: Store, interval_s: float) -> None:
    was_written = True  # loading maps files too
    while True:
        await asyncio.sleep(interval_s)
        try:
            is_written = await store.flush()
        except Exception:
            logger.exception("flush failed; the write-ahead log keeps what was written")
            continue
        if was_written and not is_written:
            release_heap()
            release_pages(store.folder)
        was_written = is_written


async def _compact_at_rest(store: Store, idle_s: float, room: Room) -> None:
    while True:
        await asyncio.sleep(idle_s)
        for collection in store.collections:
            # A copy takes the space of the collection once more.
            may_copy = time.monotonic() - collection.written_at_s >= idle_s and not room.is_short()
            if may_copy and is_worthwhile(collection):
                await _try_to_compact(store, collection)


async def _try_to_compact(store: Store, collection: Collection) -> None:
    try:
        is_done = await compact(store, collection)
    except Exception:
        logger.exception("compaction failed; the collection is unchanged", collection=collection.name)
    else:
        logger.info("compacted" if is_done else "compaction cancelled", collection=collection.name)


def _configure_logging() -> None:
    """Log one JSON object per line on stderr, from this code and from libraries."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = logging.StreamHandler(sys.stderr)
    renderers: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.JSONRenderer(),
    ]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=renderers, foreign_pre_chain=shared))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


if __name__ == "__main__":
    sys.exit(main())
