"""Opens buckets of large objects, and deletes what a process left that died while it stored or deleted one."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta

from nats.js import JetStreamContext
from nats.js.api import ObjectInfo, ObjectStoreConfig
from nats.js.errors import BucketNotFoundError, NotFoundError, ObjectNotFoundError
from nats.js.object_store import OBJ_CHUNKS_PRE_TEMPLATE, OBJ_STREAM_TEMPLATE, ObjectStore

from prism_contracts.errors import reason_of
from prism_runtime.patience import set_replicas

# Longer than the time between the first piece of an object and the record that names it.
KEPT_S = 3_600.0

# Returns the names that records have.
Named = Callable[[], Awaitable[Collection[str]]]

log = logging.getLogger(__name__)


async def open_objects(
    js: JetStreamContext, bucket: str, *, ttl_s: float = 0, replicas: int | None = None
) -> ObjectStore:
    """Open the bucket, and create it if it does not exist.

    `replicas` is the number that it has then, also if it existed before; None: what it has, or 1.
    """
    try:
        found = await js.object_store(bucket)
    except BucketNotFoundError:
        return await js.create_object_store(
            bucket, ObjectStoreConfig(ttl=ttl_s or None, replicas=replicas or 1)
        )
    if replicas:
        await set_replicas(js, OBJ_STREAM_TEMPLATE.format(bucket=bucket), replicas)
    return found


async def reclaim_regularly(js: JetStreamContext, buckets: Mapping[str, Named | None]) -> None:
    """Clean buckets now and every `KEPT_S`, until cancelled. Several processes may do so."""
    while True:
        for bucket, named in buckets.items():
            try:
                await reclaim(js, bucket, named)
            except Exception as error:  # noqa: BLE001 - whatever it was, the next round comes
                log.warning("cannot free %s: %s", bucket, reason_of(error))
        await asyncio.sleep(KEPT_S)


async def reclaim(
    js: JetStreamContext,
    bucket: str,
    named: Named | None = None,
    *,
    kept_s: float = KEPT_S,
) -> int:
    """Delete objects that no record names, and pieces that no object has. Returns their number.

    Without `named`, all objects are kept. Anything younger than `kept_s` is kept.
    """
    store, before = await js.object_store(bucket), datetime.now(UTC) - timedelta(seconds=kept_s)
    # This order loses nothing: pieces are stored before their object, and an object before its record.
    pieces = await _pieces(js, bucket)
    objects = await _objects(store)
    unnamed = [one for one in objects if named and _stored_at(one) < before]
    in_use = await named() if unnamed and named else ()
    freed = 0
    for one in unnamed:
        if one.name not in in_use:
            freed += await _deleted(store, one.name)
    for piece in pieces - {_pieces_of(bucket, one.nuid or "") for one in objects}:
        freed += await _purged(js, bucket, piece, before)
    if freed:
        log.info("freed %d objects and pieces of %s", freed, bucket)
    return freed


async def _pieces(js: JetStreamContext, bucket: str) -> set[str]:
    """Returns the subjects of all pieces."""
    info = await js.stream_info(_stream(bucket), subjects_filter=_pieces_of(bucket, ">"))
    return set(info.state.subjects or ())


async def _objects(store: ObjectStore) -> list[ObjectInfo]:
    try:
        return await store.list(ignore_deletes=True)
    except NotFoundError:  # there is none
        return []


async def _deleted(store: ObjectStore, name: str) -> int:
    try:
        await store.delete(name)
    except ObjectNotFoundError:
        return 0  # someone else did
    return 1


async def _purged(js: JetStreamContext, bucket: str, piece: str, before: datetime) -> int:
    try:
        last = await js.get_msg(_stream(bucket), subject=piece)
    except NotFoundError:
        return 0
    if last.time is None or last.time >= before:
        return 0  # it is being stored
    await js.purge_stream(_stream(bucket), subject=piece)
    return 1


def _stored_at(one: ObjectInfo) -> datetime:
    return datetime.fromisoformat(one.mtime) if one.mtime else datetime.now(UTC)


def _stream(bucket: str) -> str:
    return OBJ_STREAM_TEMPLATE.format(bucket=bucket)


def _pieces_of(bucket: str, nuid: str) -> str:
    return OBJ_CHUNKS_PRE_TEMPLATE.format(bucket=bucket, obj=nuid)
