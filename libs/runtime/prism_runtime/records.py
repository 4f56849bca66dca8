"""Typed records in a JetStream key-value bucket, with compare-and-set, and a watched copy for hot reads."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from nats.errors import Error as NatsError
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
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_runtime.tasks import cancelled

CONFLICTS_MAX = 50
CONFLICT_PAUSE_S = 0.005
# JetStream's error codes for a record that changed since it was read; for a deletion the client reports only
# these.
WRONG_LAST_SEQUENCE = 10071
WATCH_PAUSE_S = 0.5
WATCH_LOOK_S = 0.25
CATCH_UP_S = 2.0
# A listing is a consumer on the server, deleted this long after its last read. With the client's five
# minutes, three listings per second would reach the limit of a thousand consumers per bucket.
FORGOTTEN_S = 1.0

Record = TypeVar("Record", bound=Message)

log = logging.getLogger(__name__)


async def open_bucket(js: JetStreamContext, bucket: str, *, ttl_s: float = 0, replicas: int = 1) -> KeyValue:
    """Open the bucket, and create it if it does not exist."""
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
        """Returns the record, or None."""
        return (await self._read(key))[0]

    async def put(self, key: str, record: Record) -> None:
        """Write a record unconditionally."""
        await self._kv.put(key, record.model_dump_json().encode())

    async def delete(self, key: str) -> None:
        """Delete the record."""
        await self._kv.delete(key)

    async def modify(self, key: str, change: Callable[[Record | None], Record]) -> Record:
        """Replace the record by `change(record)`, and retry after a conflict. `change` must be pure."""
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

    async def change(self, key: str, change: Callable[[Record], Record]) -> Record | None:
        """Replace the record by `change(record)` as `modify` does, unless it does not exist. Returns it."""
        try:
            return await self.modify(key, lambda found: change(_existing(found)))
        except KeyError:
            return None

    async def delete_if(self, key: str, condition: Callable[[Record], bool]) -> Record | None:
        """Delete the record if its current value matches a condition. Returns the deleted record."""
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
        """Returns all records.

        Raises ValidationError if one is unreadable: a cleanup must not treat it as deleted.
        """
        return [record for _, record in await self.items()]

    async def items(self) -> list[tuple[str, Record]]:
        """Returns all records with their keys, as `all` does."""
        watcher = await self._kv.watchall(inactive_threshold=FORGOTTEN_S)
        entries: dict[str, KeyValue.Entry] = {}
        try:
            progress = _WatchProgress(await _last_written(self._kv))
            while not progress.is_complete:
                entry = await _next_entry(watcher, progress)
                if entry:
                    entries[entry.key] = entry
        finally:
            await watcher.stop()  # type: ignore[no-untyped-call]
        return [
            (key, self._type.model_validate_json(entry.value or b""))
            for key, entry in entries.items()
            if entry.operation not in (KV_DEL, KV_PURGE)
        ]

    async def _read(self, key: str) -> tuple[Record | None, int]:
        """Returns the record and its revision (of its tombstone if deleted), for the next write."""
        try:
            entry = await self._kv.get(key)
        except (KeyNotFoundError, KeyDeletedError) as error:
            return None, (error.entry.revision or 0) if error.entry else 0
        return self._type.model_validate_json(entry.value or b""), entry.revision or 0


def _existing(record: Record | None) -> Record:
    if record is None:
        raise KeyError
    return record


class _WatchProgress:
    """Tracks how much of a bucket a watch has delivered, in the order of writes.

    The client also signals the end of the initial state, and may do so before it delivers the first entry.
    """

    def __init__(self, written: int) -> None:
        """`written` is the last revision at the start of the watch."""
        self.revision = 0
        self._written = written
        self._initial_state_ended = False

    @property
    def is_complete(self) -> bool:
        """Whether the initial state is complete."""
        return self.revision >= self._written

    def receive(self, entry: KeyValue.Entry | None) -> None:
        """Process an entry, or the end of the initial state."""
        if entry is None:
            self._initial_state_ended = True
        else:
            self.revision = entry.revision or 0

    def receive_timeout(self) -> None:
        """Process a timeout: after the end of the initial state, missing entries have expired."""
        if self._initial_state_ended:
            self.revision = max(self.revision, self._written)


async def _last_written(kv: KeyValue) -> int:
    state = (await kv.status()).stream_info.state
    return state.last_seq if state.messages else 0


async def _next_entry(watcher: KeyValue.KeyWatcher, progress: _WatchProgress) -> KeyValue.Entry | None:
    """Returns the next entry of a watch; None after a timeout, or at the end of the initial state."""
    try:
        async with asyncio.timeout(WATCH_LOOK_S):  # the client's own timeout may swallow a cancellation
            entry: KeyValue.Entry | None = await watcher.updates(timeout=None)  # type: ignore[no-untyped-call]
    except TimeoutError:
        progress.receive_timeout()
        return None
    progress.receive(entry)
    return entry


class _Copy(Generic[Record]):
    """Records by key, at a revision of the bucket."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.revision = 0


class WatchedRecords(Generic[Record]):
    """An in-memory copy of a bucket that follows it within milliseconds.

    Starts complete, survives reconnects.

    After a reconnect, the client's watch receives nothing for up to twenty seconds, until it misses its
    heartbeats. So `reconnections` is polled several times a second, and the watch is renewed when it grows.
    """

    def __init__(self, kv: KeyValue, record_type: type[Record], reconnections: Callable[[], int]) -> None:
        self._kv = kv
        self._type = record_type
        self._reconnections = reconnections
        self._copy: _Copy[Record] = _Copy()
        self._filled = asyncio.Event()
        self._task = asyncio.create_task(self._follow())

    async def ready(self) -> None:
        """Wait until the copy has the initial state."""
        await self._filled.wait()

    def get(self, key: str) -> Record | None:
        """Returns the newest known record."""
        return self._copy.records.get(key)

    async def look_up(self, key: str) -> Record | None:
        """The same, with a read from the bucket if the record is unknown.

        For events that may arrive before their record.
        """
        return self.get(key) or await Records(self._kv, self._type).get(key)

    def values(self) -> list[Record]:
        """Returns all known records."""
        return list(self._copy.records.values())

    def items(self) -> list[tuple[str, Record]]:
        """Returns all known records with their keys."""
        return list(self._copy.records.items())

    async def is_current(self) -> bool:
        """Whether the copy has everything that was written before this call.

        Asks NATS; raises if it is down.
        """
        written = (await self._kv.status()).stream_info.state.last_seq
        return written <= self._copy.revision

    async def catch_up(self) -> None:
        """Wait until the copy has everything that was written before this call.

        Raises TimeoutError after a few seconds, and what NATS raises if it is down.
        """
        async with asyncio.timeout(CATCH_UP_S):
            written = (await self._kv.status()).stream_info.state.last_seq
            while self._copy.revision < written:  # noqa: ASYNC110 - the copy is replaced at times
                await asyncio.sleep(CONFLICT_PAUSE_S)

    async def require_current(self, what: str) -> None:
        """The same for a request that reads `what`, in the plural. Raises UNAVAILABLE if NATS does not answer."""
        try:
            await self.catch_up()
        except (NatsError, TimeoutError) as error:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                f"The {what} cannot be read: NATS is not reachable.",
                "Retry in a few seconds.",
            ) from error

    async def close(self) -> None:
        """Stop following."""
        await cancelled(self._task)

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
            progress = _WatchProgress(await _last_written(self._kv))
            while self._reconnections() == connection:
                entry = await _next_entry(watcher, progress)
                if entry:
                    self._take(entry, fresh.records)
                fresh.revision = progress.revision
                if progress.is_complete and self._copy is not fresh:  # only now is the old copy replaced
                    self._copy = fresh
                    self._filled.set()
        finally:
            with contextlib.suppress(Exception):  # the connection may be closed, and with it the subscription
                await watcher.stop()  # type: ignore[no-untyped-call]

    def _take(self, entry: KeyValue.Entry, records: dict[str, Record]) -> None:
        if entry.operation in (KV_DEL, KV_PURGE) or entry.value is None:
            records.pop(entry.key, None)
            return
        try:
            records[entry.key] = self._type.model_validate_json(entry.value)
        except ValidationError as error:
            # Skipped, so that it does not hide the others. Its older version is dropped.
            records.pop(entry.key, None)
            log.error("record %s cannot be read: %s", entry.key, error)  # noqa: TRY400 - the text is enough
