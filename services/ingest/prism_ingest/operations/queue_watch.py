"""Shows queues, streams and running jobs as metrics.

Every copy of ingest watches and shows the same, so that nothing is missing while one of them restarts. What
cannot be read has no value: a gauge that kept the last one would hide the outage.
"""

import asyncio
import logging
from collections import Counter as Count
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import reason_of
from prism_contracts.names import DEAD_LETTERS
from prism_contracts.records import Job, Layer, Repository
from prism_contracts.topics import DEEP_STREAM
from prism_ingest.adapters.metrics import JobMetrics, QueueMetrics, RunningJobs
from prism_ingest.adapters.queues import queue_states, stream_states
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords

LOOK_EVERY_S = 10.0
LOOK_S_MAX = 5.0
# Jobs that began since the last look, at most. The others are read by the next looks.
JOBS_READ_MAX = 200

Found = TypeVar("Found")

log = logging.getLogger(__name__)


class QueueWatch:
    """Looks at the pipeline in rounds."""

    def __init__(
        self,
        bus: Bus,
        jobs: Records[Job],
        repositories: WatchedRecords[Repository],
        layers: WatchedRecords[Layer],
        *,
        queue_metrics: QueueMetrics,
        job_metrics: JobMetrics,
    ) -> None:
        self._bus = bus
        self._jobs = jobs
        self._repositories = repositories
        self._layers = layers
        self._queue_metrics = queue_metrics
        self._job_metrics = job_metrics
        self._began: dict[str, datetime] = {}  # by id of an active job; a job without a record: now

    async def run(self) -> None:
        """Look every few seconds, until cancelled."""
        while True:
            await self.round()
            await asyncio.sleep(LOOK_EVERY_S)

    async def round(self) -> None:
        """Look once, for a limited time."""
        connection, js = self._bus.broker.connection, self._bus.broker.connection.jetstream()
        streams, queues, jobs = await asyncio.gather(
            _read("streams", lambda: stream_states(connection)),
            _read("queues", lambda: queue_states(js)),
            _read("jobs", self._running),
        )
        by_name = {stream.name: stream for stream in streams or ()}
        letters, deep = by_name.get(DEAD_LETTERS), by_name.get(DEEP_STREAM.name)
        self._queue_metrics.show_streams(streams or ())
        self._queue_metrics.show_queues(queues or {})
        self._queue_metrics.show_kept(letters.messages if letters and letters.has_leader else None)
        self._queue_metrics.show_deep(deep.messages if deep and deep.has_leader else None)
        self._job_metrics.show(jobs)

    async def _running(self) -> RunningJobs:
        kinds = dict(self._active())
        self._began = {job: began for job, began in self._began.items() if job in kinds}
        for job in [job for job in kinds if job not in self._began][:JOBS_READ_MAX]:
            found = await self._jobs.get(job)
            self._began[job] = found.created_at if found else datetime.now(UTC)
        ages = (datetime.now(UTC) - began for began in self._began.values())
        return RunningJobs(Count(kinds.values()), max((age.total_seconds() for age in ages), default=0.0))

    def _active(self) -> Iterable[tuple[str, str]]:
        yield from ((one.active_job, BASE_LAYER) for one in self._repositories.values() if one.active_job)
        yield from ((one.active_job, one.kind.value) for one in self._layers.values() if one.active_job)


async def _read(what: str, read: Callable[[], Awaitable[Found]]) -> Found | None:
    try:
        async with asyncio.timeout(LOOK_S_MAX):
            return await read()
    except Exception as error:  # noqa: BLE001 - the next round runs in any case
        log.warning("cannot show the %s as metrics: %s", what, reason_of(error))
        return None
