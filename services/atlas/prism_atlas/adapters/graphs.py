"""Graphs in the object store, memory-mapped on first use: every copy of the service can serve any graph.

A file is unlinked as soon as it is mapped: its pages persist while the graph is in use and are freed with
the process, even if it crashes.
"""

import asyncio
import contextlib
import uuid
from collections.abc import Iterator
from io import BufferedRandom, BufferedReader
from pathlib import Path

import zstandard
from nats.errors import Error as NatsError
from nats.js.api import ObjectMeta, ObjectMetaOptions
from nats.js.errors import NotFoundError
from nats.js.object_store import ObjectStore

from prism_atlas.core.snapshot import FORMAT, GraphSnapshot
from prism_atlas.worker import PACKED_SUFFIX
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import GraphRecord, graph_key
from prism_runtime.records import Records, WatchedRecords
from prism_runtime.weighted_cache import WeightedCache

LOAD_S_MAX = 60.0
# Each part of an object is acknowledged: this size halves the transfer time of the client's 128 KiB parts.
PART_BYTES = 512 * 1024


def map_and_unlink(path: Path) -> GraphSnapshot:
    """Map a file and unlink it."""
    try:
        return GraphSnapshot.read(path)
    finally:
        path.unlink()


class GraphStore:
    """The newest graph of each layer of each repository."""

    def __init__(
        self,
        store: ObjectStore,
        records: Records[GraphRecord],
        watched: WatchedRecords[GraphRecord],
        folder: Path,
        kept_bytes_max: int,
    ) -> None:
        self._store = store
        self._records = records
        self._watched = watched
        self._folder = folder
        self._cache: WeightedCache[str, GraphSnapshot] = WeightedCache(kept_bytes_max)
        self._loading: dict[str, asyncio.Task[GraphSnapshot]] = {}

    def record(self, tenant: str, repo: str, layer: str) -> GraphRecord | None:
        """Returns the record of the newest graph; None if there is none in the format of this version."""
        found = self._watched.get(graph_key(tenant, repo, layer))
        return found if found and found.format == FORMAT else None

    async def snapshot(self, record: GraphRecord) -> GraphSnapshot:
        """Returns the graph of a record. Raises UNAVAILABLE if a newer graph replaced it during the call."""
        cached = self._cache.get(record.object)
        if cached is None:
            # Concurrent callers share one download.
            if record.object not in self._loading:
                task = asyncio.create_task(self._load(record))
                self._loading[record.object] = task
                task.add_done_callback(lambda _: self._loading.pop(record.object, None))
            cached = await asyncio.shield(self._loading[record.object])
        # Refreshes the entry, so that the least recently used graph is evicted first.
        self._cache.put(record.object, cached, record.size_bytes)
        return cached

    async def put(self, record: GraphRecord, path: Path) -> None:
        """Store and serve the graph at `path`, which is compressed beside it, unless a newer one is served.

        Deletes both files. Raises UNAVAILABLE.
        """
        before = self._watched.get(record.key)
        in_parts = ObjectMeta(options=ObjectMetaOptions(max_chunk_size=PART_BYTES))
        snapshot = map_and_unlink(path)
        with _open_unlinked(path.with_suffix(PACKED_SUFFIX)) as packed, _outages_as_unavailable():
            await self._store.put(record.object, packed, in_parts)
            self._cache.put(record.object, snapshot, record.size_bytes)
            served = await self._records.modify(record.key, lambda found: _newest(found, record))
            for name in {record.object, *([before.object] if before else [])} - {served.object}:
                await self._drop(name)

    async def referenced_objects(self) -> set[str]:
        """Returns the objects that records refer to."""
        return {record.object for record in await self._records.all()}

    async def _load(self, record: GraphRecord) -> GraphSnapshot:
        path = self._folder / uuid.uuid4().hex
        try:
            with path.open("w+b") as packed, _outages_as_unavailable():
                async with asyncio.timeout(LOAD_S_MAX):
                    await self._store.get(record.object, packed)
                return await asyncio.to_thread(_unpack, packed, path)
        finally:
            path.unlink(missing_ok=True)

    async def _drop(self, name: str) -> None:
        self._cache.drop(name)
        with contextlib.suppress(NotFoundError):
            await self._store.delete(name)


def _newest(found: GraphRecord | None, record: GraphRecord) -> GraphRecord:
    if found is None or found.format != record.format:
        return record
    # If versions are equal, the later record wins: it was built with other indexes.
    return max(record, found, key=lambda one: one.version)


@contextlib.contextmanager
def _open_unlinked(path: Path) -> Iterator[BufferedReader]:
    with path.open("rb") as file:
        path.unlink()
        yield file


def _unpack(packed: BufferedRandom, path: Path) -> GraphSnapshot:
    """Decompress to `path`, whose current file is unlinked first, and map the result."""
    packed.seek(0)
    path.unlink()
    with path.open("wb") as target:
        zstandard.ZstdDecompressor().copy_stream(packed, target)
    return map_and_unlink(path)


@contextlib.contextmanager
def _outages_as_unavailable() -> Iterator[None]:
    """Raise connection errors as UNAVAILABLE, so that the work is retried instead of given up."""
    try:
        yield
    except (NatsError, TimeoutError, OSError) as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE,
            f"The graph could not be stored or read: {reason_of(error)}",
            "Retry in a few seconds.",
        ) from error
