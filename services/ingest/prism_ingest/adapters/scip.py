"""SCIP indexes: those on their way in, as files on disk, and what was taken from them, in the object store."""

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
from prism_ingest.core.occurrences import LeftOut, Taken
from prism_runtime.bus import Bus
from prism_runtime.codec import ClaimCodec
from prism_runtime.records import Records, open_bucket

GZIP_MAGIC = b"\x1f\x8b"
BLOCK_BYTES = 1024 * 1024


class ScipMetrics:
    """Counts what came in."""

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

    def count(self, taken: Taken, *, stored: bool) -> None:
        """One index more."""
        self._indexes.labels("kept" if stored else "older").inc()
        self._documents.labels("taken").inc(len(taken.columns.paths))
        for reason, count in taken.left_out.items():
            self._documents.labels(reason).inc(count)


@asynccontextmanager
async def uploaded(codec: ClaimCodec, name: str, bytes_max: int, folder: str) -> AsyncIterator[BinaryIO]:
    """The upload of a name, unpacked into a file that is gone afterwards, as the upload is. It is never held in memory.

    Raises SCIP_INVALID, PAYLOAD_TOO_LARGE.
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
    """What was taken from indexes: one object and one record an indexer and folder, of the newest commit."""

    def __init__(self, records: Records[ScipIndex], objects: ObjectStore) -> None:
        self._records = records
        self._objects = objects

    @classmethod
    async def open(cls, bus: Bus, replicas: int) -> "ScipStore":
        """The store, made if it is not there."""
        bucket = await open_bucket(bus.js, names.KV_SCIP, replicas=replicas)
        return cls(Records(bucket, ScipIndex), await bus.objects(names.OBJECTS_SCIP))

    async def keep(self, index: ScipIndex, data: bytes) -> ScipIndex | None:
        """Keep what was taken, in the place of what was taken from older commits: the record of it; None if a newer one is kept already."""
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

    async def named(self) -> set[str]:
        """The objects that records name."""
        return {index.object for index in await self._records.all()}

    async def _drop(self, name: str) -> None:
        try:
            await self._objects.delete(name)
        except ObjectNotFoundError:
            return  # someone else did


def _unpack(packed: BinaryIO, plain: BinaryIO, bytes_max: int) -> BinaryIO:
    """What a file is the gzip of, or the file itself, at its beginning."""
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
