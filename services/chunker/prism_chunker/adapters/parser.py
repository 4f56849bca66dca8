"""A parser process with a hard limit: a child that loops or crashes is killed and replaced, and its file is
chunked by lines.
"""

import asyncio
import contextlib
import itertools
import logging
import sys

from prism_chunker.conversion import chunk_event
from prism_chunker.worker import FRAME
from prism_contracts.base import Lane
from prism_contracts.events import FileChanged

# The parse has its own budget of two seconds; its queries and their compilation, once per language, come on
# top.
SECONDS_MAX = 12.0
FRAME_BYTES_MAX = 64 * 1024 * 1024
PRIORITY = {Lane.LIVE: 0, Lane.BULK: 1}

log = logging.getLogger(__name__)


class Parser:
    """One child process; bodies wait in a queue, live ones first."""

    def __init__(self, seconds_max: float = SECONDS_MAX) -> None:
        self._seconds_max = seconds_max
        self._waiting: asyncio.PriorityQueue[tuple[int, int, bytes, asyncio.Future[bytes]]] = (
            asyncio.PriorityQueue()
        )
        self._order = itertools.count()
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None

    async def chunk(self, lane: Lane, body: bytes) -> bytes:
        """Returns the `FileChunked` of a `FileChanged`, both as JSON."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((PRIORITY[lane], next(self._order), body, future))
        return await future

    async def close(self) -> None:
        """Stop the child."""
        if self._task:
            self._task.cancel()
        await self._kill()

    async def _work(self) -> None:
        while True:
            _, _, body, future = await self._waiting.get()
            if future.done():  # its handler was cancelled
                continue
            try:
                future.set_result(await self._chunk(body))
            except Exception as error:  # noqa: BLE001 - belongs to the handler
                future.set_exception(error)

    async def _chunk(self, body: bytes) -> bytes:
        try:
            async with asyncio.timeout(self._seconds_max):
                return await self._ask(body)
        except TimeoutError:
            trouble = "timeout"
        except (asyncio.IncompleteReadError, ConnectionError):
            trouble = "crashed"
        await self._kill()
        event = FileChanged.model_validate_json(body)
        log.warning("the parser had a %s on %s: chunking it by lines", trouble, event.path)
        return chunk_event(event, parse=trouble).model_dump_json().encode()

    async def _ask(self, body: bytes) -> bytes:
        process = self._process or await self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.write(FRAME.pack(len(body)) + body)
        await process.stdin.drain()
        size = FRAME.unpack(await process.stdout.readexactly(FRAME.size))[0]
        return await process.stdout.readexactly(size)

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "prism_chunker.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=FRAME_BYTES_MAX,
        )
        return self._process

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
