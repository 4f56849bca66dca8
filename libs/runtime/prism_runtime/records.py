"""Typed records in a JetStream key-value bucket, with compare-and-set, and a watched copy for hot reads."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from nats.js import JetStreamContext
from nats.js.api import KeyValueConfig, StorageType
from nats.js.errors import (
    BadRequestError,
    BucketNotFoundError,
    KeyDeletedError,
    KeyNotFoundError,
    KeyWrongLastSequenceError,
)
from nats.js.kv import KV_DEL, KV_PURGE, KeyValue
from pydantic import ValidationError

from prism_contracts.base import Message
from prism_contracts.errors import reason_of

CONFLICTS_MAX = 50
CONFLICT_PAUSE_S = 0.005
# What JetStream says when a record has changed since it was read; of a deletion the client says no more than that.
WRONG_LAST_SEQUENCE = 10071
WATCH_PAUSE_S = 0.5
WATCH_LOOK_S = 0.25
# A list is a consumer of the server, which forgets it so long after it was read. The client's five minutes let a thousand of them, which is
# all that a bucket may have, be there from asking three times a second.
FORGOTTEN_S = 1.0

Record = TypeVar("Record", bound=Message)

log = logging.getLogger(__name__)


async def open_bucket(js: JetStreamContext, bucket: str, *, ttl_s: float = 0, replicas: int = 1) -> KeyValue:
    """The bucket, made if it is not there."""
    try:
        return await js.key_value(bucket)
    except BucketNotFoundError:
        config = KeyValueConfig(bucket=bucket, ttl=ttl_s or None, replicas=replicas, storage=StorageType.FILE)
        return await js.create_key_value(config)


class Records(Generic[Record]):
    """Records of one type in one bucket."""

    def __init__(self, kv: KeyValue, record_type: type[Record]) -> None:
        self._kv = kv
        self._type = record_type

    async def get(self, key: str) -> Record | None:
        """The record, or None."""
        return (await self._read(key))[0]

    async def put(self, key: str, record: Record) -> None:
        """Write, whatever was there."""
        await self._kv.put(key, record.model_dump_json().encode())

    async def delete(self, key: str) -> None:
        """Forget the record."""
        await self._kv.delete(key)

    async def modify(self, key: str, change: Callable[[Record | None], Record]) -> Record:
        """Replace the record by `change(record)`, again if someone else was faster. `change` has no effects."""
        for _ in range(CONFLICTS_MAX):
            found, revision = await self._read(key)
            record = change(found)
            if record == found:
                return record
            try:
                await self._kv.update(key, record.model_dump_json().encode(), last=revision)
            except KeyWrongLastSequenceError:
                await asyncio.sleep(CONFLICT_PAUSE_S)
                continue
            return record
        raise TimeoutError(f"record {key} changed {CONFLICTS_MAX} times while it was being written")

    async def delete_if(self, key: str, condition: Callable[[Record], bool]) -> Record | None:
        """Forget the record if a condition holds of what it is at that moment; what was forgotten."""
        for _ in range(CONFLICTS_MAX):
            found, revision = await self._read(key)
            if found is None or not condition(found):
                return None
            try:
                await self._kv.delete(key, last=revision)
            except BadRequestError as error:
                if error.err_code != WRONG_LAST_SEQUENCE:
                    raise
                await asyncio.sleep(CONFLICT_PAUSE_S)
                continue
            return found
        raise TimeoutError(f"record {key} changed {CONFLICTS_MAX} times while it was being deleted")

    async def all(self) -> list[Record]:
        """All records. Raises ValidationError if one cannot be read: who removes what has no record must not take it for gone."""
        watcher = await self._kv.watchall(inactive_threshold=FORGOTTEN_S)
        entries: dict[str, KeyValue.Entry] = {}
        try:
            told = _Told(await _last_written(self._kv))
            while not told.is_complete:
                entry = await _next_entry(watcher, told)
                if entry:
                    entries[entry.key] = entry
        finally:
            await watcher.stop()  # type: ignore[no-untyped-call]
        return [
            self._type.model_validate_json(entry.value or b"")
            for entry in entries.values()
            if entry.operation not in (KV_DEL, KV_PURGE)
        ]

    async def _read(self, key: str) -> tuple[Record | None, int]:
        """The record and the revision that a writer must name: of a deleted record, that of its tombstone."""
        try:
            entry = await self._kv.get(key)
        except (KeyNotFoundError, KeyDeletedError) as error:
            return None, (error.entry.revision or 0) if error.entry else 0
        return self._type.model_validate_json(entry.value or b""), entry.revision or 0


class _Told:
    """How much of a bucket a watch has told, in the order in which it was written.

    The client says too when all that was there has been told, and may say so before it tells the first of it.
    """

    def __init__(self, written: int) -> None:
        """`written` is the last revision when the watch began."""
        self.revision = 0
        self._written = written
        self._is_said = False

    @property
    def is_complete(self) -> bool:
        """Whether all has been told that was there when the watch began."""
        return self.revision >= self._written

    def hear(self, entry: KeyValue.Entry | None) -> None:
        """An entry came, or that there are no more."""
        if entry is None:
            self._is_said = True
        else:
            self.revision = entry.revision or 0

    def hear_nothing(self) -> None:
        """Nothing came for a while: if it was said that there is no more, what was written last has expired."""
        if self._is_said:
            self.revision = max(self.revision, self._written)


async def _last_written(kv: KeyValue) -> int:
    state = (await kv.status()).stream_info.state
    return state.last_seq if state.messages else 0


async def _next_entry(watcher: KeyValue.KeyWatcher, told: _Told) -> KeyValue.Entry | None:
    """What a watch tells next; None if nothing comes for a while, or if it only says that all has been told."""
    try:
        async with asyncio.timeout(WATCH_LOOK_S):  # the client's own may swallow a cancellation
            entry: KeyValue.Entry | None = await watcher.updates(timeout=None)  # type: ignore[no-untyped-call]
    except TimeoutError:
        told.hear_nothing()
        return None
    told.hear(entry)
    return entry


class _Copy(Generic[Record]):
    """Records by key, as they were at a revision of the bucket."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.revision = 0


class WatchedRecords(Generic[Record]):
    """A copy of a bucket in memory that follows it within milliseconds. Starts full, survives reconnects.

    After a reconnection the client's watch hears nothing for up to twenty seconds, until it misses its heartbeats;
    so `reconnections` is looked at several times a second, and the bucket is followed afresh when it has grown.
    """

    def __init__(self, kv: KeyValue, record_type: type[Record], reconnections: Callable[[], int]) -> None:
        self._kv = kv
        self._type = record_type
        self._reconnections = reconnections
        self._copy: _Copy[Record] = _Copy()
        self._filled = asyncio.Event()
        self._task = asyncio.create_task(self._follow())

    async def ready(self) -> None:
        """Wait until the copy holds all that was there at the start."""
        await self._filled.wait()

    def get(self, key: str) -> Record | None:
        """The record as last heard of."""
        return self._copy.records.get(key)

    async def look_up(self, key: str) -> Record | None:
        """The same; the record as it is stored if it was not heard of yet. For events that may come ahead of what they are about."""
        return self.get(key) or await Records(self._kv, self._type).get(key)

    def values(self) -> list[Record]:
        """All records as last heard of."""
        return list(self._copy.records.values())

    async def is_current(self) -> bool:
        """Whether all that had been written when this was called has been heard of. Asks NATS; raises if it is away."""
        written = (await self._kv.status()).stream_info.state.last_seq
        return written <= self._copy.revision

    async def close(self) -> None:
        """Stop following."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _follow(self) -> None:
        while True:
            try:
                await self._follow_while_connected(self._reconnections())
            except Exception as error:  # noqa: BLE001 - a watch ends with any trouble of the connection
                log.warning("following a bucket again: %s", reason_of(error))
                await asyncio.sleep(WATCH_PAUSE_S)

    async def _follow_while_connected(self, connection: int) -> None:
        watcher = await self._kv.watchall()
        fresh: _Copy[Record] = _Copy()
        try:
            told = _Told(await _last_written(self._kv))
            while self._reconnections() == connection:
                entry = await _next_entry(watcher, told)
                if entry:
                    self._take(entry, fresh.records)
                fresh.revision = told.revision
                if told.is_complete and self._copy is not fresh:  # only now is the old copy replaced
                    self._copy = fresh
                    self._filled.set()
        finally:
            with contextlib.suppress(Exception):  # the connection may be gone, and with it the subscription
                await watcher.stop()  # type: ignore[no-untyped-call]

    def _take(self, entry: KeyValue.Entry, records: dict[str, Record]) -> None:
        if entry.operation in (KV_DEL, KV_PURGE) or entry.value is None:
            records.pop(entry.key, None)
            return
        try:
            records[entry.key] = self._type.model_validate_json(entry.value)
        except ValidationError as error:
            # Passed over: it must not hide the others. What was known of it is not known any more.
            records.pop(entry.key, None)
            log.error("record %s cannot be read: %s", entry.key, error)  # noqa: TRY400 - the text says it all
