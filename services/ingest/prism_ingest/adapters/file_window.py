"""How many files of imports are on their way through the stages at once, and whose.

The streams behind ingest know no tenants: what is published first is indexed first. So ingest publishes only
as far ahead as keeps the stages busy, and tenants share this window. Otherwise a file of one tenant would
wait for all files that another one imports.
"""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, NamedTuple

from nats.errors import Error as NatsError

from prism_contracts.errors import PrismError, reason_of
from prism_contracts.events import FileChanged, FileEvent
from prism_contracts.records import Job
from prism_ingest.core import is_final, open_ordinals

# How often the records of jobs are read while files wait.
LOOK_S: Final = 0.1
LOOK_AGAIN_S: Final = 1.0  # after an error
UNIT_BYTES: Final = 32 * 1024
# Something is wrong with a file that has not settled by now. The rest of the import goes on without it.
FORGOTTEN_S: Final = 300.0

log = logging.getLogger(__name__)


class WindowLimits(NamedTuple):
    """The size of a window, in units: a file is one, and one more per 32 KiB."""

    alone: int  # for one tenant, while no other tenant imports
    shared: int  # for all tenants together
    of_tenant_min: int  # the smallest share, however many import


# A smaller window makes smaller batches: with 128, an import takes a tenth more CPU. A larger one makes others
# wait longer.
IMPORTS = WindowLimits(alone=192, shared=96, of_tenant_min=16)
# On the live lane, edits of single files wait behind what is inside.
SMALL_IMPORTS = WindowLimits(alone=48, shared=48, of_tenant_min=8)
# A tenant that imported a moment ago probably imports again soon, and should not find a full window.
RECENT_S: Final = 60.0


class _Wait(NamedTuple):
    event: FileEvent
    units: int
    granted: asyncio.Future[None]


class _Inside(NamedTuple):
    units: int
    since_s: float


class FileWindow:
    """The window of one lane in one process.

    A file is inside from its publication until its job's record has it as settled, whichever process counted
    it.
    """

    def __init__(
        self,
        job_of: Callable[[str], Awaitable[Job | None]],
        limits: WindowLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job_of = job_of
        self._limits = limits
        self._clock = clock
        self._inside: dict[str, dict[tuple[str, int], _Inside]] = {}  # by tenant, then by job and ordinal
        self._units: Counter[str] = Counter()  # by tenant
        self._waiting: dict[str, deque[_Wait]] = {}
        self._came_at: dict[str, float] = {}  # the last file of each tenant, the newest at the end
        self._looking: asyncio.Task[None] | None = None

    async def enter(self, event: FileEvent) -> None:
        """Wait until the tenant of a file has room in the window, and take it. Call this before publishing.

        A tenant's files enter in the order of their calls, and the tenant with the least inside goes first.
        """
        size_bytes = event.size_bytes if isinstance(event, FileChanged) else 0
        wait = _Wait(event, 1 + size_bytes // UNIT_BYTES, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(event.tenant, deque()).append(wait)
        self._note(event.tenant)
        self._grant()
        if not wait.granted.done() and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look())
        try:
            await wait.granted
        finally:
            if not wait.granted.done() or wait.granted.cancelled():
                self._leave(wait)

    async def settled(self, tenant: str) -> None:
        """Wait until no file of a tenant is inside. Others must not enter meanwhile."""
        while tenant in self._inside:
            pause_s = await self._make_room()
            if tenant in self._inside:
                await asyncio.sleep(pause_s)

    def _grant(self) -> None:
        while fitting := [tenant for tenant in self._waiting if self._fits(tenant)]:
            tenant = min(fitting, key=lambda one: self._units[one])
            wait = self._waiting[tenant][0]
            self._leave(wait)
            self._put(wait)
            wait.granted.set_result(None)

    def _fits(self, tenant: str) -> bool:
        inside = self._units[tenant]
        # A file that is larger than the share enters alone.
        return not inside or inside + self._waiting[tenant][0].units <= self._share()

    def _share(self) -> int:
        """Returns the units of each tenant."""
        importing = self._inside.keys() | self._waiting.keys()
        if len(importing | self._came_at.keys()) == 1:
            return self._limits.alone
        return max(self._limits.shared // len(importing), self._limits.of_tenant_min)

    def _note(self, tenant: str) -> None:
        now_s = self._clock()
        self._came_at.pop(tenant, None)
        self._came_at[tenant] = now_s
        while self._came_at[oldest := next(iter(self._came_at))] <= now_s - RECENT_S:
            del self._came_at[oldest]

    def _put(self, wait: _Wait) -> None:
        event = wait.event
        inside = self._inside.setdefault(event.tenant, {})
        key = (event.job, event.ordinal)
        if key not in inside:  # otherwise it is published again, after an error
            inside[key] = _Inside(wait.units, self._clock())
            self._units[event.tenant] += wait.units

    def _leave(self, wait: _Wait) -> None:
        queue = self._waiting.get(wait.event.tenant, deque())
        if wait in queue:
            queue.remove(wait)
            if not queue:
                del self._waiting[wait.event.tenant]

    async def _look(self) -> None:
        """Make room as files settle, while any wait."""
        while self._waiting:
            pause_s = await self._make_room()
            await asyncio.sleep(pause_s)

    async def _make_room(self) -> float:
        """Forget files that have settled, and let others enter. Returns the seconds until the next look."""
        pause_s = LOOK_S
        try:
            await self._forget_settled()
        except (PrismError, OSError, TimeoutError, NatsError) as error:
            log.warning("looking for settled files again: %s", reason_of(error))
            pause_s = LOOK_AGAIN_S
        self._grant()
        return pause_s

    async def _forget_settled(self) -> None:
        for tenant, inside in list(self._inside.items()):
            for job_id in {job for job, _ in inside}:
                files = [(file, entered) for file, entered in inside.items() if file[0] == job_id]
                job = await self._job_of(job_id)
                self._forget(
                    tenant, [file for file, entered in files if not self._is_open(job, file, entered)]
                )

    def _is_open(self, job: Job | None, file: tuple[str, int], entered: _Inside) -> bool:
        if job is None or is_final(job) or entered.since_s <= self._clock() - FORGOTTEN_S:
            return False
        return not job.settled or bool(open_ordinals(job, [file[1]]))

    def _forget(self, tenant: str, files: Iterable[tuple[str, int]]) -> None:
        inside = self._inside.get(tenant, {})  # another look may have forgotten them meanwhile
        for file in files:
            if entered := inside.pop(file, None):
                self._units[tenant] -= entered.units
        if not inside:
            self._inside.pop(tenant, None)
            del self._units[tenant]
