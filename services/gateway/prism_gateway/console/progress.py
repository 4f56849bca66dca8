"""Imports as they go on, for the pages that are open: one question per tenant and second, however many watch."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple

from prism_contracts.errors import PrismError
from prism_contracts.records import FINAL_STATES
from prism_contracts.rpc.imports import JOBS, JobsReply, JobsRequest
from prism_gateway.backend import Backend
from prism_gateway.console.listing import Row, rows_of

EVERY_S: Final = 1.0
AT_REST_EVERY_S: Final = 3.0
JOBS_SHOWN: Final = 20

Key = tuple[str, frozenset[str] | None]


class Newest(NamedTuple):
    """What is known now, and the rows of the list of repositories, by id. Unchanged rows stay the same objects."""

    known: JobsReply
    rows: Mapping[str, Row]


class LiveJobs:
    """The newest jobs, for those who watch them. It asks while somebody does, and keeps nothing else."""

    def __init__(self) -> None:
        self._feeds: dict[Key, _Feed] = {}

    @asynccontextmanager
    async def watch(self, backend: Backend) -> AsyncIterator[AsyncIterator[Newest]]:
        """Gives the jobs and repositories that a caller may see, again and again."""
        key = (backend.caller.tenant, backend.visible)
        feed = self._feeds.setdefault(key, _Feed())
        feed.watchers += 1
        if feed.task is None:
            feed.task = asyncio.create_task(feed.run(backend))
        try:
            yield feed.updates()
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                self._feeds.pop(key, None)
                feed.task.cancel()

    async def close(self) -> None:
        """End all streams."""
        for feed in list(self._feeds.values()):
            if feed.task:
                feed.task.cancel()
            feed.end()


class _Feed:
    """The newest jobs of one tenant, and those who wait for newer ones."""

    def __init__(self) -> None:
        self.watchers = 0
        self.task: asyncio.Task[None] | None = None
        self._newest: Newest | None = None
        self._is_over = False
        self._next = asyncio.Event()

    async def run(self, backend: Backend) -> None:
        """Ask again and again. An outage only means that nothing is new."""
        request = JobsRequest(tenant=backend.caller.tenant, limit=JOBS_SHOWN)
        asking = Backend(backend.services, backend.caller, backend.visible)
        while True:
            with suppress(PrismError):
                known = await asking.ask(JOBS, request)
                self._newest = Newest(known, rows_of(known, self._newest.rows if self._newest else {}))
            self._wake()
            await asyncio.sleep(EVERY_S if self._is_busy else AT_REST_EVERY_S)

    async def updates(self) -> AsyncIterator[Newest]:
        """Yields what is known now, and each newer answer."""
        while not self._is_over:
            newest, following = self._newest, self._next
            if newest is not None:
                yield newest
            await following.wait()

    def end(self) -> None:
        """End all streams."""
        self._is_over = True
        self._wake()

    @property
    def _is_busy(self) -> bool:
        if self._newest is None:
            return False
        return any(job.state not in FINAL_STATES for job in self._newest.known.jobs)

    def _wake(self) -> None:
        waited, self._next = self._next, asyncio.Event()
        waited.set()
