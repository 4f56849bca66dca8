"""The file list of each running job, in the object store: what a restart goes on from."""

import zlib
from functools import lru_cache

from nats.js import JetStreamContext
from nats.js.api import ObjectStoreConfig
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc import SnapshotFile

KEPT_S = names.WEEK_S
IN_MEMORY_MAX = 4


class JobFiles(Message):
    """What a job was planned to do. Ordinals: positions in `files`, then in `removed` behind them."""

    files: tuple[SnapshotFile, ...]
    needed: tuple[int, ...]
    skipped: tuple[int, ...]
    removed: tuple[str, ...]


class SnapshotStore:
    """File lists by job."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._recent = lru_cache(maxsize=IN_MEMORY_MAX)(JobFiles.model_validate_json)
        self._raw: dict[str, bytes] = {}

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "SnapshotStore":
        """The store, made if it is not there."""
        config = ObjectStoreConfig(ttl=KEPT_S, replicas=replicas)
        return cls(await js.create_object_store(names.OBJECTS_SNAPSHOTS, config))

    async def put(self, job: str, files: JobFiles) -> None:
        """Keep the list of a job."""
        await self._store.put(job, zlib.compress(files.model_dump_json().encode(), 1))

    async def get(self, job: str) -> JobFiles:
        """The list of a job. Raises JOB_NOT_FOUND."""
        raw = self._raw.get(job) or await self._fetch(job)
        return self._recent(raw)

    async def drop(self, job: str) -> None:
        """Forget the list of a job that ended."""
        self._raw.pop(job, None)
        try:
            await self._store.delete(job)
        except ObjectNotFoundError:
            return

    async def _fetch(self, job: str) -> bytes:
        try:
            stored = await self._store.get(job)
        except ObjectNotFoundError as error:
            raise PrismError(
                ErrorCode.JOB_NOT_FOUND, f"Job {job} has no snapshot.", "Open a snapshot first."
            ) from error
        raw = zlib.decompress(stored.data or b"")
        if len(self._raw) >= IN_MEMORY_MAX:
            self._raw.pop(next(iter(self._raw)))
        self._raw[job] = raw
        return raw
