"""SCIP indexes: uploads as temporary files, and their usable content in the object store."""

import asyncio
import gzip
import hashlib
import tempfile
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO

from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore
from prometheus_client import CollectorRegistry, Counter

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import ScipIndex
from prism_ingest.core.occurrences import IndexContent, LeftOut
from prism_runtime.bus import Bus
from prism_runtime.codec import ClaimCodec
from prism_runtime.records import Records, open_bucket

GZIP_MAGIC = b"\x1f\x8b"
BLOCK_BYTES = 1024 * 1024


class ScipMetrics:
    """Counts uploads and their documents."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._indexes = Counter(
            "prism_ingest_scip_indexes",
            "SCIP indexes by outcome: kept, or older than the stored one.",
            ["outcome"],
            registry=registry,
        )
        self._documents = Counter(
            "prism_ingest_scip_documents",
            "Documents of SCIP indexes: taken, or the reason why they were ignored.",
            ["outcome"],
            registry=registry,
        )
        for outcome in ("taken", *LeftOut):
            self._documents.labels(outcome)

    def count(self, content: IndexContent, *, stored: bool) -> None:
        """Count one index."""
        self._indexes.labels("kept" if stored else "older").inc()
        self._documents.labels("taken").inc(len(content.columns.paths))
        for reason, count in content.left_out.items():
            self._documents.labels(reason).inc(count)


@asynccontextmanager
async def uploaded(codec: ClaimCodec, name: str, bytes_max: int, folder: str) -> AsyncIterator[BinaryIO]:
    """Yields an upload, decompressed into a temporary file, and deletes both afterwards.

    It is never in memory as a whole. Raises SCIP_INVALID, PAYLOAD_TOO_LARGE.
    """
    with (
        tempfile.TemporaryFile(dir=folder or None) as packed,
        tempfile.TemporaryFile(dir=folder or None) as plain,
    ):
        try:
            await codec.read_file(name, packed)
            yield await asyncio.to_thread(_unpack, packed, plain, bytes_max)
        finally:
            await codec.drop_file(name)


class ScipStore:
    """The usable content of indexes: one object and record per indexer and folder, of the newest commit."""

    def __init__(self, records: Records[ScipIndex], objects: ObjectStore) -> None:
        self._records = records
        self._objects = objects

    @classmethod
    async def open(cls, bus: Bus, replicas: int) -> "ScipStore":
        """Open the store, and create it if it does not exist."""
        bucket = await open_bucket(bus.js, names.KV_SCIP, replicas=replicas)
        return cls(Records(bucket, ScipIndex), await bus.objects(names.OBJECTS_SCIP))

    async def keep(self, index: ScipIndex, data: bytes) -> ScipIndex | None:
        """Store content in place of that of older commits. Returns its record; None if a newer one exists."""
        name = hashlib.sha256(f"{index.key}\0{index.version}\0".encode() + data).hexdigest()
        index = index.model_copy(update={"object": name})
        before: ScipIndex | None = None

        def newest(found: ScipIndex | None) -> ScipIndex:
            nonlocal before
            before = found
            return found if found and found.version > index.version else index

        await self._objects.put(name, data)
        kept = await self._records.modify(index.key, newest)
        useless = name if kept is not index else (before.object if before else "")
        if useless and useless != kept.object:
            await self._drop(useless)
        return kept if kept is index else None

    async def of(self, tenant: str, repo: str) -> list[ScipIndex]:
        """Returns the records of a repository, by indexer and folder."""
        own = (one for one in await self._records.all() if (one.tenant, one.repo) == (tenant, repo))
        return sorted(own, key=lambda one: (one.indexer, one.root))

    async def remove(self, index: ScipIndex) -> bool:
        """Delete a record and its content. Returns False if it was replaced or deleted meanwhile."""
        deleted = await self._records.delete_if(index.key, lambda found: found.object == index.object)
        if deleted is None:
            return False
        await self._drop(index.object)
        return True

    async def named(self) -> set[str]:
        """Returns the objects that records name."""
        return {index.object for index in await self._records.all()}

    async def _drop(self, name: str) -> None:
        try:
            await self._objects.delete(name)
        except ObjectNotFoundError:
            return  # another process deleted it


def _unpack(packed: BinaryIO, plain: BinaryIO, bytes_max: int) -> BinaryIO:
    """Returns the decompressed file, or the file itself if it is not gzip, positioned at its start."""
    packed.seek(0)
    is_gzip = packed.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    packed.seek(0)
    if not is_gzip:
        return packed
    try:
        with gzip.open(packed) as blocks:
            while block := blocks.read(BLOCK_BYTES):
                if plain.tell() + len(block) > bytes_max:
                    raise PrismError(
                        ErrorCode.PAYLOAD_TOO_LARGE,
                        f"The decompressed index exceeds {bytes_max} bytes.",
                        "Upload one index per part of the repository.",
                        limit_bytes=bytes_max,
                    )
                plain.write(block)
    except (OSError, EOFError, zlib.error) as error:
        raise PrismError(
            ErrorCode.SCIP_INVALID, "The gzip file is damaged or truncated.", "Compress it again."
        ) from error
    plain.seek(0)
    return plain
