"""Child processes that build graphs. Each starts with its first request and ends some time after its last."""

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from prism_atlas.worker import BuildReply, BuildRequest, BuildResult
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError

REPLY_BYTES_MAX = 1024 * 1024
# Two, so that an edit of an already loaded repository does not wait for an import.
PROCESSES = 2
SAVE_S_MAX = 60.0


class BuildProcesses:
    """A pool of child processes, each with one request at a time."""

    def __init__(self, cache_folder: Path, warm_s: float, seconds_max: float) -> None:
        self._processes = [BuildProcess(cache_folder, warm_s, seconds_max) for _ in range(PROCESSES)]
        self._bulk = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def reserve(self, repository: str, lane: Lane) -> AsyncIterator["BuildProcess"]:
        """Reserve the process that holds the repository's state, or else the one that holds the fewest.

        Builds of one repository wait for each other. At most one bulk build runs at a time, so bulk builds
        never occupy all processes.
        """
        async with self._bulk if lane is Lane.BULK else contextlib.nullcontext():
            assigned = [one for one in self._processes if repository in one.assigned]
            free = [one for one in self._processes if not one.lock.locked()]
            process = min(assigned or free or self._processes, key=lambda one: len(one.assigned))
            process.waiting[repository] += 1
            try:
                async with process.lock:
                    process.built.add(repository)
                    yield process
            finally:
                process.waiting[repository] -= 1

    async def close(self) -> None:
        """Kill the child processes."""
        for process in self._processes:
            await process.close()


class BuildProcess:
    """One child process."""

    def __init__(self, cache_folder: Path, warm_s: float, seconds_max: float) -> None:
        self._cache_folder = cache_folder
        self._warm_s = warm_s
        self._seconds_max = seconds_max
        self._process: asyncio.subprocess.Process | None = None
        self.lock = asyncio.Lock()  # held for the whole of a build
        self.built: set[str] = set()  # repositories whose state the child holds
        self.waiting: Counter[str] = Counter()  # callers that wait for or run a build, by repository
        self._idle_timer: asyncio.TimerHandle | None = None
        self._stop_task: asyncio.Task[None] | None = None

    @property
    def assigned(self) -> set[str]:
        """Repositories whose state the child holds or is about to build."""
        return self.built | set(+self.waiting)

    async def build(self, request: BuildRequest) -> BuildResult:
        """Send a request to the child; the caller must have reserved the process.

        Raises the child's error; INTERNAL if the child died, or was killed after `seconds_max`.
        """
        if self._idle_timer:
            self._idle_timer.cancel()
        try:
            async with asyncio.timeout(self._seconds_max):
                reply = await self._send(request)
        except BaseException as error:  # in every case: the child's next line would answer this request
            await self._kill()
            if isinstance(error, (TimeoutError, asyncio.IncompleteReadError, ConnectionError)):
                raise _build_failed(request, error) from error
            raise
        self._idle_timer = asyncio.get_running_loop().call_later(self._warm_s, self._stop_when_idle)
        if reply.error:
            body = reply.error
            raise PrismError(body.code, body.message, body.next_action, **body.details)
        assert reply.built
        return reply.built

    async def close(self) -> None:
        """Kill the child."""
        if self._idle_timer:
            self._idle_timer.cancel()
        await self._kill()

    async def _send(self, request: BuildRequest) -> BuildReply:
        process = self._process or await self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.write(request.model_dump_json().encode() + b"\n")
        await process.stdin.drain()
        return BuildReply.model_validate_json(await process.stdout.readuntil(b"\n"))

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "prism_atlas.worker", str(self._cache_folder)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=REPLY_BYTES_MAX,
        )
        return self._process

    def _stop_when_idle(self) -> None:
        self._stop_task = asyncio.create_task(self._stop_unless_busy())

    async def _stop_unless_busy(self) -> None:
        if not self.lock.locked():
            async with self.lock:
                await self._save_state()
                await self._kill()

    async def _save_state(self) -> None:
        """Close the child's input, so that it saves its state for the next one. Waits at most SAVE_S_MAX."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), SAVE_S_MAX)

    async def _kill(self) -> None:
        process, self._process = self._process, None
        self.built.clear()
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _build_failed(request: BuildRequest, error: BaseException) -> PrismError:
    return PrismError(
        ErrorCode.INTERNAL,
        f"The graph of {request.repo_name} was not built: {type(error).__name__}.",
        "Prism retries. The log of atlas has the details.",
    )
