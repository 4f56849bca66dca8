"""Typed records in a JetStream key-value bucket, with compare-and-set, and a watched copy for hot reads."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import KeyValueConfig, StorageType
from nats.js.client import KV_STREAM_TEMPLATE
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
from prism_runtime.patience import set_replicas
from prism_runtime.tasks import cancelled

CONFLICTS_MAX = 50
CONFLICT_PAUSE_S = 0.005
# JetStream's error codes for a record that changed since it was read; for a deletion the client reports only
# these.
WRONG_LAST_SEQUENCE = 10071
WATCH_PAUSE_S = 0.5
WATCH_LOOK_S = 0.25
CATCH_UP_S = 2.0
# One request per bucket, which takes about a millisecond.
CONFIRM_EVERY_S = 10.0
# A listing is a consumer on the server, deleted this long after its last read. With the client's five
# minutes, three listings per second would reach the limit of a thousand consumers per bucket.
FORGOTTEN_S = 1.0
# The same for a copy that is followed closely.
CONFIRM_CLOSELY_S = 0.3
# How long what was written may be on its way to a copy.
ARRIVES_WITHIN_S = 0.2
# The watch of a copy that is behind is renewed if it has received nothing for so long; a new one has more time.
SILENT_S_MAX = 0.3
NEW_WATCH_S_MAX = 1.0
NEW_WATCH_LONGEST_S_MAX = 8.0

Record = TypeVar("Record", bound=Message)
Stored_contra = TypeVar("Stored_contra", bound=Message, contravariant=True)
Projected = TypeVar("Projected", bound="Projection[Any]")
Opened = TypeVar("Opened")

log = logging.getLogger(__name__)


def opened(bucket: Opened | None, service: str = "Prism") -> Opened:
    """Returns what is opened once NATS is connected. Raises UNAVAILABLE before, in the name of a service."""
    if bucket is None:
        raise PrismError(
            ErrorCode.UNAVAILABLE, f"{service} is not connected to NATS yet.", "Retry in a few seconds."
        )
    return bucket


async def open_bucket(
    js: JetStreamContext, bucket: str, *, ttl_s: float = 0, replicas: int | None = None
) -> KeyValue:
    """Open the bucket, and create it if it does not exist.

    `replicas` is the number that it has then, also if it existed before; None: what it has, or 1.
    """
    try:
        found = await js.key_value(bucket)
    except BucketNotFoundError:
        config = KeyValueConfig(
            bucket=bucket, ttl=ttl_s or None, replicas=replicas or 1, storage=StorageType.FILE
        )
        return await js.create_key_value(config)
    if replicas:
        await set_replicas(js, KV_STREAM_TEMPLATE.format(bucket=bucket), replicas)
    return found


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


class Projection(Protocol[Stored_contra]):
    """What a bucket is in the memory of a process that follows it, such as a table with indexes.

    It gets every record and every deletion in the order of their writes. When a watch begins, a new one is filled.
    """

    def put(self, key: str, record: Stored_contra, /) -> None:
        """Take a new or changed record."""

    def remove(self, key: str, /) -> None:
        """Forget a record, known or not."""


class _ByKey(dict[str, Record]):
    """The projection that holds the records themselves."""

    put = dict.__setitem__

    def remove(self, key: str) -> None:
        self.pop(key, None)


class _Copy(Generic[Projected]):
    """A projection, and the revision of the bucket that it is at."""

    def __init__(self, projection: Projected) -> None:
        self.projection = projection
        self.revision = 0


class _Pulse:
    """Detects that a watch has received nothing for too long."""

    def __init__(self) -> None:
        self._patience_s = NEW_WATCH_S_MAX
        self._due_at = 0.0

    def begin(self) -> None:
        """A watch begins. It gets more time than the one before it, which may have ended for lack of time."""
        self._due_at = time.monotonic() + self._patience_s
        self._patience_s = min(2 * self._patience_s, NEW_WATCH_LONGEST_S_MAX)

    def beat(self) -> None:
        """The watch received something."""
        self._due_at = time.monotonic() + SILENT_S_MAX

    def is_complete(self) -> None:
        """The watch has received all that there was at its start."""
        self._patience_s = NEW_WATCH_S_MAX
        self.beat()

    @property
    def is_silent(self) -> bool:
        """Whether the watch should have received something by now."""
        return time.monotonic() > self._due_at


class FollowedBucket(Generic[Record, Projected]):
    """A bucket in memory, as a projection that follows it within milliseconds.

    Starts complete, survives reconnects.

    After a reconnect, or the death of the bucket's leader, the client's watch receives nothing for up to twenty
    seconds, until it misses its heartbeats. So `reconnections` is polled several times a second, and the watch
    is renewed when it grows. The copy is also compared with its bucket now and then, and its watch renewed if
    it is behind and receives nothing; with `is_close` so often that it is never behind for longer than a
    second while the bucket answers.
    """

    def __init__(
        self,
        kv: KeyValue,
        record_type: type[Record],
        projection: Callable[[], Projected],
        reconnections: Callable[[], int],
        *,
        is_close: bool = False,
    ) -> None:
        """`projection` returns an empty one, whenever a watch begins."""
        self._kv = kv
        self._type = record_type
        self._make = projection
        self._reconnections = reconnections
        self._is_close = is_close
        self._copy = _Copy(projection())
        self._filled = asyncio.Event()
        self._pulse = _Pulse()
        self._watch: asyncio.Timeout | None = None
        self._heard_at = self._confirmed_at = time.monotonic()
        self._tasks = [asyncio.create_task(self._follow()), asyncio.create_task(self._confirm())]

    async def ready(self) -> None:
        """Wait until the copy has the initial state."""
        await self._filled.wait()

    @property
    def projection(self) -> Projected:
        """The newest projection. Another one may take its place, so it is not kept."""
        return self._copy.projection

    @property
    def unheard_s(self) -> float:
        """Seconds since an entry arrived, or since NATS confirmed that none is missing, whichever was last."""
        return time.monotonic() - self._heard_at

    @property
    def unconfirmed_s(self) -> float:
        """Seconds for which the copy may have missed something: NATS has not confirmed it since."""
        return time.monotonic() - self._confirmed_at

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
        await cancelled(*self._tasks)

    async def _confirm(self) -> None:
        """Ask NATS now and then whether the copy is complete: a watch that went deaf looks like a quiet bucket."""
        async with asyncio.TaskGroup() as looks:
            while True:
                await asyncio.sleep(CONFIRM_CLOSELY_S if self._is_close else CONFIRM_EVERY_S)
                # Not one after the other: while a bucket has no leader, a question waits for its timeout.
                looks.create_task(self._look())

    async def _look(self) -> None:
        asked_at = time.monotonic()
        try:
            written = (await self._kv.status()).stream_info.state.last_seq
        except Exception as error:  # noqa: BLE001 - whatever it was, the next look asks again
            log.debug("a copy of a bucket was not confirmed: %s", reason_of(error))
            return
        if written > self._copy.revision:
            await asyncio.sleep(ARRIVES_WITHIN_S)
        if written <= self._copy.revision:
            self._confirmed_at = max(self._confirmed_at, asked_at)
            self._heard_at = time.monotonic()
        elif self._pulse.is_silent:
            self._renew()

    def _renew(self) -> None:
        if self._watch is not None:
            with contextlib.suppress(RuntimeError):  # it is ending already
                self._watch.reschedule(asyncio.get_running_loop().time())

    async def _follow(self) -> None:
        while True:
            self._pulse.begin()
            try:
                async with asyncio.timeout(None) as self._watch:
                    await self._follow_while_connected(self._reconnections())
            except TimeoutError:
                log.warning("following a bucket again: its watch is silent, and it has changed")
            except Exception as error:  # noqa: BLE001 - a watch ends with any trouble of the connection
                log.warning("following a bucket again: %s", reason_of(error))
                await asyncio.sleep(WATCH_PAUSE_S)

    async def _follow_while_connected(self, connection: int) -> None:
        watcher = await self._kv.watchall()
        fresh = _Copy(self._make())
        try:
            progress = _WatchProgress(await _last_written(self._kv))
            while self._reconnections() == connection:
                entry = await _next_entry(watcher, progress)
                if entry:
                    self._heard_at = time.monotonic()
                    self._take(entry, fresh.projection)
                fresh.revision = progress.revision
                if progress.is_complete and self._copy is not fresh:  # only now is the old copy replaced
                    self._copy = fresh
                    self._filled.set()
                    self._pulse.is_complete()
        finally:
            with contextlib.suppress(Exception):  # the connection may be closed, and with it the subscription
                await watcher.stop()  # type: ignore[no-untyped-call]

    def _take(self, entry: KeyValue.Entry, projection: Projected) -> None:
        if entry.operation in (KV_DEL, KV_PURGE) or entry.value is None:
            projection.remove(entry.key)
            return
        try:
            projection.put(entry.key, self._type.model_validate_json(entry.value))
        except ValidationError as error:
            # Skipped, so that it does not hide the others. Its older version is dropped.
            projection.remove(entry.key)
            log.error("record %s cannot be read: %s", entry.key, error)  # noqa: TRY400 - the text is enough


class WatchedRecords(FollowedBucket[Record, _ByKey[Record]]):
    """An in-memory copy of a bucket's records."""

    def __init__(
        self,
        kv: KeyValue,
        record_type: type[Record],
        reconnections: Callable[[], int],
        *,
        is_close: bool = False,
    ) -> None:
        super().__init__(kv, record_type, _ByKey, reconnections, is_close=is_close)

    def get(self, key: str) -> Record | None:
        """Returns the newest known record."""
        return self.projection.get(key)

    async def look_up(self, key: str) -> Record | None:
        """The same, with a read from the bucket if the record is unknown.

        For events that may arrive before their record.
        """
        return self.get(key) or await Records(self._kv, self._type).get(key)

    def values(self) -> list[Record]:
        """Returns all known records."""
        return list(self.projection.values())

    def items(self) -> list[tuple[str, Record]]:
        """Returns all known records with their keys."""
        return list(self.projection.items())
