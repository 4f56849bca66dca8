"""Which jobs were cancelled. Every service that works on files follows them, and skips their files."""

from prism_contracts import names
from prism_contracts.records import CancelledJob
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords


class CancelledJobs:
    """The jobs that were cancelled during the last days, from a local copy that may be a moment old."""

    def __init__(self, records: WatchedRecords[CancelledJob]) -> None:
        self._records = records

    @classmethod
    async def open(cls, bus: Bus) -> "CancelledJobs":
        """Open the records. They are complete when this returns."""
        ttl_s = names.CANCELLED_JOBS_MAX_AGE_S
        return cls(await bus.follow(names.KV_CANCELLED_JOBS, CancelledJob, ttl_s=ttl_s))

    def __contains__(self, job: object) -> bool:
        """Whether a job with this id was cancelled."""
        return isinstance(job, str) and self._records.get(job) is not None
