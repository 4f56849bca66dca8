"""The audit: one entry for each change, in an append-only stream.

A change is answered when its entry is stored, or a second later at most: then a background task stores it.
docs/decisions has the reasons.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StorageType, StreamConfig
from prometheus_client import CollectorRegistry, Counter
from pydantic import BaseModel, ValidationError

from prism_contracts import names
from prism_contracts.accounting import UNANSWERED, AuditAction, AuditEntry
from prism_contracts.errors import ErrorCode, reason_of
from prism_gateway.accounting.changes import ACTIONS
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.callers import Caller
from prism_runtime.bus import Bus
from prism_runtime.streams import read_stream_back
from prism_runtime.tasks import running

# How long a change waits for its entry.
WAIT_MAX_S = 1.0
STORE_TIMEOUT_S = 2.0
RETRIED_EVERY_S = 2.0
WAITING_MAX = 10_000
# An entry whose acknowledgement was lost is sent again. NATS drops the second within this time.
DUPLICATE_WINDOW_S = names.HOUR_S
ID_BYTES = 8
EVERY_TENANT = "*"
DONE: Final = "done"
REFUSED: Final = "refused"
# A page ends after this many entries, also those that a filter leaves out.
SCANNED_MAX = 20_000

log = logging.getLogger(__name__)


class AuditMetrics:
    """Counts entries."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.entries = Counter(
            "prism_audit_entries",
            "Entries of the audit by outcome: stored, delayed (NATS did not answer; sent again until it does), "
            "lost (more waited than fit in memory, or the gateway stopped; the log has them).",
            ["outcome"],
            registry=registry,
        )


class AuditPage(BaseModel):
    """Changes, the newest first."""

    entries: tuple[AuditEntry, ...]
    next_position: int = 0  # where older ones begin; 0 if there are none


class AuditFilter(BaseModel):
    """Which changes a page has."""

    tenant: str = ""  # empty for all tenants
    since: datetime
    until: datetime
    actor: str = ""  # id of a caller, with or without `token:`, or its label
    action: AuditAction | None = None

    def takes(self, entry: AuditEntry) -> bool:
        """Whether an entry belongs to the page."""
        return self.since <= entry.at < self.until and (
            not self.actor or self.actor in (entry.caller, entry.caller.partition(":")[2], entry.label)
        )


class AuditLog:
    """The changes of all tenants."""

    def __init__(self, metrics: AuditMetrics) -> None:
        self._metrics = metrics
        self._js: JetStreamContext | None = None
        self._waiting: deque[AuditEntry] = deque()
        self._is_waiting = asyncio.Event()

    async def open(self, bus: Bus, *, bytes_max: int, replicas: int) -> None:
        """Declare the stream."""
        await bus.keep_stream(
            StreamConfig(
                name=names.AUDIT,
                subjects=[names.accounting_subject(names.AUDIT, ">")],
                storage=StorageType.FILE,
                max_age=names.AUDIT_MAX_AGE_S,
                max_bytes=bytes_max,
                max_msgs_per_subject=names.AUDIT_ENTRIES_MAX,
                duplicate_window=DUPLICATE_WINDOW_S,
                # The server refuses to delete or replace an entry, whatever the permissions.
                deny_delete=True,
                deny_purge=True,
                num_replicas=replicas,
            )
        )
        self._js = bus.broker.connection.jetstream()

    async def record(self, *entries: AuditEntry) -> None:
        """Store entries. Returns when they are stored, or after `WAIT_MAX_S`; never fails."""
        await asyncio.gather(*map(self._record, entries))

    def add(self, *entries: AuditEntry) -> None:
        """Store entries in the background."""
        for entry in entries:
            if len(self._waiting) >= WAITING_MAX:
                self._lose(self._waiting.popleft())
            self._waiting.append(entry)
        self._is_waiting.set()

    @asynccontextmanager
    async def storing(self) -> AsyncIterator[None]:
        """Store waiting entries during a block, and at its end."""
        async with running(self._store_waiting()):
            yield
        await self._store()
        while self._waiting:
            self._lose(self._waiting.popleft())

    async def page(self, wanted: AuditFilter, limit: int, position: int = 0) -> AuditPage:
        """Returns the newest entries, or those before the `next_position` of another page."""
        if self._js is None:
            return AuditPage(entries=())
        subject = names.accounting_subject(
            names.AUDIT, wanted.tenant or EVERY_TENANT, wanted.action or EVERY_TENANT, ">"
        )
        found: list[AuditEntry] = []
        scanned = last = 0
        async with aclosing(read_stream_back(self._js, names.AUDIT, subject, before=position)) as messages:
            async for message in messages:
                # An entry is never older than its message, which may have waited for NATS.
                if message.metadata.timestamp < wanted.since:
                    break
                if len(found) >= limit or scanned >= SCANNED_MAX:
                    return AuditPage(entries=tuple(found), next_position=last)
                scanned, last = scanned + 1, message.metadata.sequence.stream
                try:
                    entry = AuditEntry.model_validate_json(message.data)
                except ValidationError as error:
                    log.error("an entry of the audit cannot be read: %s", error)  # noqa: TRY400
                    continue
                if wanted.takes(entry):
                    found.append(entry)
        return AuditPage(entries=tuple(found))

    async def _record(self, entry: AuditEntry) -> None:
        if not await self._stored(entry, WAIT_MAX_S):
            self.add(entry)

    async def _stored(self, entry: AuditEntry, timeout_s: float) -> bool:
        if self._js is None:
            return False
        try:
            await self._js.publish(
                _subject(entry),
                entry.model_dump_json().encode(),
                timeout=timeout_s,
                headers={"Nats-Msg-Id": entry.id},
            )
        except (NatsError, TimeoutError) as error:
            self._metrics.entries.labels("delayed").inc()
            log.warning("cannot store an entry of the audit, will try again: %s", reason_of(error))
            return False
        self._metrics.entries.labels("stored").inc()
        return True

    async def _store(self) -> bool:
        """Store the waiting entries, the oldest first. Returns whether all are stored."""
        while self._waiting:
            entry = self._waiting[0]
            if not await self._stored(entry, STORE_TIMEOUT_S):
                return False
            if self._waiting and self._waiting[0] is entry:  # or it was lost meanwhile
                self._waiting.popleft()
        return True

    async def _store_waiting(self) -> None:
        while True:
            await self._is_waiting.wait()
            if await self._store():
                self._is_waiting.clear()
            else:
                await asyncio.sleep(RETRIED_EVERY_S)

    def _lose(self, entry: AuditEntry) -> None:
        self._metrics.entries.labels("lost").inc()
        log.error("an entry of the audit is only here: %s", entry.model_dump_json())


def new_id() -> str:
    """Returns the id of a new entry."""
    return secrets.token_hex(ID_BYTES)


def entry_of(caller: Caller, facts: CallFacts, address: str) -> AuditEntry | None:
    """Returns the entry of a call; None if there is nothing to record.

    A call over a rate limit changes nothing, and neither does a repetition with an `Idempotency-Key`.
    """
    action = ACTIONS.get(facts.call)
    if action is None or facts.code == ErrorCode.RATE_LIMITED or facts.is_repeated:
        return None
    code = facts.code if facts.is_answered else facts.code or UNANSWERED
    tenant = caller.tenant if facts.code else facts.change.tenant or caller.tenant
    return AuditEntry(
        id=new_id(),
        at=datetime.now(UTC),
        tenant=tenant,
        action=action,
        subject=facts.change.subject,
        caller=caller.id,
        label=caller.label,
        caller_tenant=caller.tenant if caller.tenant != tenant else "",
        address=address,
        code=code,
        details=facts.change.details,
    )


def _subject(entry: AuditEntry) -> str:
    return names.accounting_subject(names.AUDIT, entry.tenant, entry.action, REFUSED if entry.code else DONE)
