"""The file list of each running job, in the object store: what a restart goes on from."""

import zlib

from nats.js import JetStreamContext
from nats.js.api import ObjectStoreConfig
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile

KEPT_S = names.WEEK_S
IN_MEMORY_MAX = 4


class JobPlan(Message):
    """What a job was planned to do. Ordinals: positions in `files`, then in `removed` behind them."""

    files: tuple[SnapshotFile, ...]
    needed: tuple[int, ...]
    skipped: tuple[int, ...]
    removed: tuple[str, ...]
    # Of a job of a layer: what its record says of its files when the job has ended.
    layer: dict[str, str | int] = {}


class PlanStore:
    """File lists by job."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._recent: dict[str, JobPlan] = {}

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "PlanStore":
        """The store, made if it is not there."""
        config = ObjectStoreConfig(ttl=KEPT_S, replicas=replicas)
        return cls(await js.create_object_store(names.OBJECTS_SNAPSHOTS, config))

    async def put(self, job: str, files: JobPlan) -> None:
        """Keep the list of a job."""
        await self._store.put(job, zlib.compress(files.model_dump_json().encode(), 1))

    async def get(self, job: str) -> JobPlan:
        """The list of a job. Raises JOB_NOT_FOUND."""
        if job not in self._recent:
            files = await self._fetch(job)
            while len(self._recent) >= IN_MEMORY_MAX:
                self._recent.pop(next(iter(self._recent)))
            self._recent[job] = files
        return self._recent[job]

    async def drop(self, job: str) -> None:
        """Forget the list of a job that ended."""
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
