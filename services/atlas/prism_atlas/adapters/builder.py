"""The child processes that build graphs: each started for its first order, ended some time after its last."""

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from prism_atlas.worker import Built, Order, Outcome
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError

ANSWER_BYTES_MAX = 1024 * 1024


# One for imports, so that an edit of a repository that is known does not wait for them.
PROCESSES = 2
PUT_DOWN_S_MAX = 60.0


class Builders:
    """Several child processes, one order at a time each."""

    def __init__(self, shelf: Path, warm_s: float, seconds_max: float) -> None:
        self._builders = [Builder(shelf, warm_s, seconds_max) for _ in range(PROCESSES)]
        self._bulk = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self, repository: str, lane: Lane) -> AsyncIterator["Builder"]:
        """The process that knows a repository, or else the one that knows the fewest; of two for the same repository the second
        waits. Bulk builds take turns, so that they never keep all processes.
        """
        async with self._bulk if lane is Lane.BULK else contextlib.nullcontext():
            known = [one for one in self._builders if repository in one.known]
            free = [one for one in self._builders if not one.turn.locked()]
            builder = min(known or free or self._builders, key=lambda one: len(one.known))
            builder.wanted[repository] += 1
            try:
                async with builder.turn:
                    builder.built.add(repository)
                    yield builder
            finally:
                builder.wanted[repository] -= 1

    async def close(self) -> None:
        """End the children."""
        for builder in self._builders:
            await builder.close()


class Builder:
    """One child process."""

    def __init__(self, shelf: Path, warm_s: float, seconds_max: float) -> None:
        self._shelf = shelf
        self._warm_s = warm_s
        self._seconds_max = seconds_max
        self._process: asyncio.subprocess.Process | None = None
        self.turn = asyncio.Lock()  # held by who has something built
        self.built: set[str] = set()  # repositories that the child was asked to build
        self.wanted: Counter[str] = Counter()  # and those that somebody waits to ask it for, or does
        self._cooling: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None

    @property
    def known(self) -> set[str]:
        """Repositories that the child knows, or will."""
        return self.built | set(+self.wanted)

    async def build(self, order: Order) -> Built:
        """Have a graph built, in one's turn. Raises what the child raised; INTERNAL if it died, or took too long and was killed."""
        if self._cooling:
            self._cooling.cancel()
        try:
            async with asyncio.timeout(self._seconds_max):
                outcome = await self._ask(order)
        except BaseException as error:  # whatever it is, the child's next line would answer this order
            await self._end()
            if isinstance(error, (TimeoutError, asyncio.IncompleteReadError, ConnectionError)):
                raise _gave_up(order, error) from error
            raise
        self._cooling = asyncio.get_running_loop().call_later(self._warm_s, self._cool)
        if outcome.error:
            body = outcome.error
            raise PrismError(body.code, body.message, body.next_action, **body.details)
        assert outcome.built
        return outcome.built

    async def close(self) -> None:
        """End the child."""
        if self._cooling:
            self._cooling.cancel()
        await self._end()

    async def _ask(self, order: Order) -> Outcome:
        process = self._process or await self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.write(order.model_dump_json().encode() + b"\n")
        await process.stdin.drain()
        return Outcome.model_validate_json(await process.stdout.readuntil(b"\n"))

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "prism_atlas.worker", str(self._shelf)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=ANSWER_BYTES_MAX,
        )
        return self._process

    def _cool(self) -> None:
        self._ending = asyncio.create_task(self._end_unless_busy())

    async def _end_unless_busy(self) -> None:
        if not self.turn.locked():
            async with self.turn:
                await self._put_down()
                await self._end()

    async def _put_down(self) -> None:
        """Have the child leave what it knows to the next one, if it can be had in time."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), PUT_DOWN_S_MAX)

    async def _end(self) -> None:
        process, self._process = self._process, None
        self.built.clear()
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _gave_up(order: Order, error: BaseException) -> PrismError:
    return PrismError(
        ErrorCode.INTERNAL,
        f"The graph of {order.repo_name} was not built: {type(error).__name__}.",
        "Prism retries. The log of atlas has the details.",
    )
