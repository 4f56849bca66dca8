"""The shared counts behind rate limits: a log of reservations per limit, in JetStream.

A message says how many calls a gateway reserved, and the total of its log since it began. A gateway writes
only after the last message that it knows, so two never reserve the same calls. The log of a minute forgets
its old messages, so the server itself slides the window: the clocks of gateways take no part.
"""

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import Header, RawStreamMsg, StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from prism_contracts import names
from prism_runtime.records import WRONG_LAST_SEQUENCE

MINUTE_S = 60
DAY_S = 24 * names.HOUR_S
# How long a gateway may use what it reserved for a minute. The log remembers for as much longer, so every
# minute has at most the limit, whenever in this time the calls take place.
HOLD_S = 5
ASK_TIMEOUT_S = 1.0
CONFLICTS_MAX = 50
LOG_BYTES_MAX = 64 * names.MIB


class Reservation(NamedTuple):
    """How many calls were reserved, how many count now, and when some of them no longer will."""

    granted: int
    used: int
    frees_at: float = 0.0


class Window(Protocol):
    """A window of time, and where its counts are."""

    stream: str
    seconds: int
    slides: bool  # whether its old messages stop counting one by one

    def subject(self, counter: str, now: float) -> str:
        """The subject of a counter at a time."""
        ...

    def usable_until(self, now: float) -> float:
        """How long reserved calls may be used."""
        ...

    def ends_at(self, now: float) -> float:
        """When a call of now no longer counts."""
        ...


class Minute:
    """The last minute."""

    stream = names.LIMITS_MINUTE
    seconds = MINUTE_S
    slides = True

    @classmethod
    def config(cls, replicas: int) -> StreamConfig:
        """Its stream. It is in memory: a restart of NATS forgets one minute."""
        return StreamConfig(
            name=cls.stream,
            subjects=[names.limits_subject(cls.stream, ">")],
            storage=StorageType.MEMORY,
            allow_direct=True,
            max_age=MINUTE_S + HOLD_S,
            max_bytes=LOG_BYTES_MAX,
            num_replicas=replicas,
        )

    def subject(self, counter: str, now: float) -> str:  # noqa: ARG002 - it does not change
        """The subject of a counter."""
        return names.limits_subject(self.stream, counter)

    def usable_until(self, now: float) -> float:
        """How long reserved calls may be used."""
        return now + HOLD_S

    def ends_at(self, now: float) -> float:
        """When a call of now no longer counts."""
        return now + MINUTE_S + HOLD_S


class Day:
    """The current day, UTC."""

    stream = names.LIMITS_DAY
    seconds = DAY_S
    slides = False

    @classmethod
    def config(cls, replicas: int) -> StreamConfig:
        """Its stream."""
        return StreamConfig(
            name=cls.stream,
            subjects=[names.limits_subject(cls.stream, ">")],
            storage=StorageType.FILE,
            allow_direct=True,
            max_msgs_per_subject=1,
            max_age=2 * DAY_S,
            max_bytes=LOG_BYTES_MAX,
            num_replicas=replicas,
        )

    def subject(self, counter: str, now: float) -> str:
        """The subject of a counter on a day."""
        return names.limits_subject(self.stream, f"{counter}.{int(now // DAY_S)}")

    def usable_until(self, now: float) -> float:
        """Until midnight."""
        return self.ends_at(now)

    def ends_at(self, now: float) -> float:
        """Midnight."""
        return (now // DAY_S + 1) * DAY_S


class Entry(msgspec.Struct):
    """A message of a log."""

    added: int
    total: int


class Counter(Protocol):
    """The count of one limit over all gateways."""

    async def reserve(self, wanted: int, limit: int) -> Reservation:
        """Reserve calls, fewer if the limit is near. Raises OSError if NATS does not answer."""
        ...


class SharedCounter:
    """A log of reservations. One gateway asks it one thing at a time."""

    def __init__(
        self, connection: Client, window: Window, name: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._connection = connection
        self._js: JetStreamContext = connection.jetstream()
        self._window = window
        self._name = name
        self._clock = clock
        self._subject = ""
        self._sequence, self._total = 0, 0  # of the last known message
        self._before = 0  # the part of the total that is known to no longer count
        self._frees_at = 0.0
        self._is_shared = False  # whether another gateway wrote, when last looked

    async def reserve(self, wanted: int, limit: int) -> Reservation:
        """Reserve calls, fewer if the limit is near. Raises OSError if NATS does not answer."""
        if not self._connection.is_connected:  # a request on a lost connection waits for its timeout
            raise OSError("not connected to NATS")
        self._begin_window()
        try:
            return await self._reserve(wanted, limit)
        except NatsError as error:
            raise OSError(str(error)) from error

    async def _reserve(self, wanted: int, limit: int) -> Reservation:
        is_fresh = self._is_shared
        if is_fresh:
            await self._look()
        for _ in range(CONFLICTS_MAX):
            if not is_fresh and self._used + wanted > limit:
                await self._look()
            granted = max(0, min(wanted, limit - self._used))
            if not granted:
                return Reservation(0, self._used, self._frees_at)
            if await self._write(granted):
                return Reservation(granted, self._used)
            await self._look()
            is_fresh = True
        raise OSError(f"{self._name} changed {CONFLICTS_MAX} times while it was being written")

    @property
    def _used(self) -> int:
        return self._total - self._before

    def _begin_window(self) -> None:
        subject = self._window.subject(self._name, self._clock())
        if subject != self._subject:
            self._subject, self._sequence, self._total, self._before = subject, 0, 0, 0

    async def _write(self, count: int) -> bool:
        entry = Entry(count, self._total + count)
        headers: dict[str, str] = {Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(self._sequence)}
        try:
            ack = await self._js.publish(
                self._subject, msgspec.json.encode(entry), timeout=ASK_TIMEOUT_S, headers=headers
            )
        except BadRequestError as error:
            if error.err_code != WRONG_LAST_SEQUENCE:
                raise
            return False
        self._sequence, self._total = ack.seq, entry.total
        return True

    async def _look(self) -> None:
        """Read the newest and the oldest message that count."""
        newest, oldest = await asyncio.gather(self._read(), self._read(seq=1))
        if newest is None or oldest is None:  # all of them are too old
            self._is_shared = False
            self._sequence, self._total, self._before = 0, 0, 0
            return
        last, first = _entry(newest), _entry(oldest)
        assert newest.seq is not None
        assert oldest.time is not None
        self._is_shared = newest.seq != self._sequence
        self._sequence, self._total = newest.seq, last.total
        # A day has its newest message only, whose total counts.
        self._before = first.total - first.added if self._window.slides else 0
        self._frees_at = self._window.ends_at(oldest.time.timestamp())

    async def _read(self, seq: int | None = None) -> RawStreamMsg | None:
        try:
            async with asyncio.timeout(ASK_TIMEOUT_S):
                return await self._js.get_msg(
                    self._window.stream, seq, subject=self._subject, next=bool(seq), direct=True
                )
        except NotFoundError:
            return None


def _entry(message: RawStreamMsg) -> Entry:
    return msgspec.json.decode(message.data or b"", type=Entry)
