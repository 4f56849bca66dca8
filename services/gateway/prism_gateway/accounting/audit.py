"""The audit: one entry for each change, in an append-only stream.

A change is answered when its entry is stored, or a second later at most: then a background task stores it.
docs/decisions has the reasons.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from nats.js.api import StorageType, StreamConfig
from prometheus_client import CollectorRegistry, Counter

from prism_contracts import names
from prism_contracts.accounting import UNANSWERED, AuditAction, AuditEntry
from prism_contracts.errors import ErrorCode
from prism_gateway.accounting.changes import ACTIONS
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.accounting.outbox import Outbox, Outgoing, SendOutcome
from prism_gateway.accounting.pages import EntryPage, Wanted, read_page
from prism_gateway.callers import Caller
from prism_runtime.bus import Bus

# How long a change waits for its entry.
WAIT_MAX_S = 1.0
# An entry whose acknowledgement was lost is sent again. NATS drops the second within this time.
DUPLICATE_WINDOW_S = names.HOUR_S
ID_BYTES = 8
EVERY_ACTION = "*"
DONE: Final = "done"
REFUSED: Final = "refused"

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
        # An alert on an increase needs the 0 before the first loss.
        for outcome in SendOutcome:
            self.entries.labels(outcome.value)


class AuditLog:
    """The changes of all tenants."""

    def __init__(self, metrics: AuditMetrics) -> None:
        self._metrics = metrics
        self._outbox = Outbox(self._count)

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
        self._outbox.open(bus)

    async def record(self, *entries: AuditEntry) -> None:
        """Store entries. Returns when they are stored, or after `WAIT_MAX_S`; never fails."""
        await asyncio.gather(*map(self._record, entries))

    def add(self, entry: AuditEntry) -> None:
        """Store an entry in the background."""
        self._outbox.add(_message(entry))

    async def flush(self) -> None:
        """Store waiting entries now."""
        await self._outbox.flush()

    @asynccontextmanager
    async def storing(self) -> AsyncIterator[None]:
        """Store waiting entries during a block, and at its end."""
        async with self._outbox.sending():
            yield

    async def page(self, wanted: Wanted, action: AuditAction | None = None) -> EntryPage[AuditEntry]:
        """Returns the newest entries, of one action or of all."""
        subject = names.accounting_subject(names.AUDIT, wanted.tenants, action or EVERY_ACTION, ">")
        return await read_page(self._outbox.js, names.AUDIT, subject, AuditEntry, wanted)

    async def _record(self, entry: AuditEntry) -> None:
        if not await self._outbox.send(_message(entry), WAIT_MAX_S):
            self.add(entry)

    def _count(self, outcome: SendOutcome, message: Outgoing) -> None:
        self._metrics.entries.labels(outcome).inc()
        if outcome is SendOutcome.LOST:
            log.error("an entry of the audit is only here: %s", message.body.decode())


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
        code=facts.code if facts.is_answered else facts.code or UNANSWERED,
        details=facts.change.details,
    )


def _message(entry: AuditEntry) -> Outgoing:
    outcome = REFUSED if entry.code else DONE
    subject = names.accounting_subject(names.AUDIT, entry.tenant, entry.action, outcome)
    return Outgoing(subject, entry.id, entry.model_dump_json().encode())
