"""The plan of each running job, in the object store, so that a restart can continue it."""

import zlib

from nats.js import JetStreamContext
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile
from prism_runtime.objects import open_objects

KEPT_S = names.WEEK_S
IN_MEMORY_MAX = 4


class JobPlan(Message):
    """The plan of a job. Ordinals are positions in `files`, followed by those in `removed`."""

    files: tuple[SnapshotFile, ...]
    needed: tuple[int, ...]
    skipped: tuple[int, ...]
    removed: tuple[str, ...]
    # Those of `needed` and `skipped` that the index did not have, and whose content differs. The others are
    # indexed again for another reason.
    added: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    # For a layer's job: the fields of its record that change when the job ends.
    layer: dict[str, str | int] = {}


class PlanStore:
    """Plans by job."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._recent: dict[str, JobPlan] = {}

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "PlanStore":
        """Open the store, and create it if it does not exist."""
        return cls(await open_objects(js, names.OBJECTS_SNAPSHOTS, ttl_s=KEPT_S, replicas=replicas))

    async def put(self, job: str, files: JobPlan) -> None:
        """Store the plan of a job."""
        await self._store.put(job, zlib.compress(files.model_dump_json().encode(), 1))

    async def get(self, job: str) -> JobPlan:
        """Returns the plan of a job. Raises JOB_NOT_FOUND."""
        if job not in self._recent:
            files = await self._fetch(job)
            while len(self._recent) >= IN_MEMORY_MAX:
                self._recent.pop(next(iter(self._recent)))
            self._recent[job] = files
        return self._recent[job]

    async def drop(self, job: str) -> None:
        """Delete the plan of a job that ended."""
        self._recent.pop(job, None)
        try:
            await self._store.delete(job)
        except ObjectNotFoundError:
            return

    async def _fetch(self, job: str) -> JobPlan:
        try:
            stored = await self._store.get(job)
        except ObjectNotFoundError as error:
            raise PrismError(
                ErrorCode.JOB_NOT_FOUND, f"Job {job} has no snapshot.", "Open a snapshot first."
            ) from error
        return JobPlan.model_validate_json(zlib.decompress(stored.data or b""))
