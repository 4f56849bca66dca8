"""The search history of tenants that keep one, and what callers say about answers.

A question and a comment are redacted like code before they are stored. No call waits for its history. Each
tenant has a subject of its own in both streams, so its entries can be deleted without reading the others.
"""

import logging
from collections import Counter as Count
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from nats.errors import Error as NatsError
from nats.js.api import StorageType, StreamConfig
from prometheus_client import CollectorRegistry, Counter

from prism_catalog.tenants import Tenants
from prism_contracts import names
from prism_contracts.accounting import HISTORY_HITS_MAX, FeedbackEntry, HistoryEntry, HistoryHit
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import Tenant
from prism_gateway.accounting.audit import new_id
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.accounting.outbox import Outbox, Outgoing, SendOutcome
from prism_gateway.accounting.pages import EntryPage, Wanted, read_page
from prism_gateway.callers import Caller
from prism_runtime.bus import Bus
from prism_source.secret_policy import SecretPolicy
from prism_source.secrets import redact

QUERY_CHARS_MAX = 1_000
STREAMS = (names.HISTORY, names.FEEDBACK)

log = logging.getLogger(__name__)


class HistoryMetrics:
    """Counts entries."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.entries = Counter(
            "prism_history_entries",
            "Entries of the search history by outcome: stored, delayed (NATS did not answer; sent again until it "
            "does), lost (more waited than fit in memory, or the gateway stopped).",
            ["outcome"],
            registry=registry,
        )
        for outcome in SendOutcome:
            self.entries.labels(outcome.value)


@dataclass(frozen=True)
class HistoryRules:
    """What is kept, and how long."""

    is_on: bool  # for tenants that do not decide it themselves
    days: int
    bytes_max: int
    secrets: SecretPolicy


class HistoryLog:
    """The questions of all tenants, with the ids of their hits, and feedback about them."""

    def __init__(self, tenants: Tenants, rules: HistoryRules, metrics: HistoryMetrics) -> None:
        self._tenants = tenants
        self._rules = rules
        self._metrics = metrics
        self._outbox = Outbox(self._count)

    async def open(self, bus: Bus, *, replicas: int) -> None:
        """Declare the streams."""
        ages_s = {
            names.HISTORY: self._rules.days * 24 * names.HOUR_S,
            names.FEEDBACK: names.FEEDBACK_MAX_AGE_S,
        }
        for stream in STREAMS:
            await bus.keep_stream(
                StreamConfig(
                    name=stream,
                    subjects=[names.accounting_subject(stream, "*")],
                    storage=StorageType.FILE,
                    max_age=ages_s[stream],
                    max_bytes=self._rules.bytes_max,
                    max_msgs_per_subject=names.HISTORY_ENTRIES_MAX,
                    num_replicas=replicas,
                )
            )
        self._outbox.open(bus)

    def is_on(self, tenant: str) -> bool:
        """Whether the history of a tenant is kept: as the tenant decided, else as the setting says."""
        known = self._tenants.get(tenant)
        return self.is_on_for(known) if known else self._rules.is_on

    def is_on_for(self, tenant: Tenant) -> bool:
        """The same, for the record of a tenant."""
        return self._rules.is_on if tenant.search_history is None else tenant.search_history

    def note(self, caller: Caller, facts: CallFacts) -> None:
        """Keep a question with its hits, in the background, if the tenant has a history."""
        if facts.query and self.is_on(caller.tenant):
            entry = self._entry(caller, facts)
            subject = names.accounting_subject(names.HISTORY, caller.tenant)
            self._outbox.add(Outgoing(subject, new_id(), entry.model_dump_json().encode()))

    async def keep_feedback(
        self, caller: Caller, *, useful: bool, hits: Iterable[str], query: str, comment: str
    ) -> None:
        """Store what a caller says. Returns when it is stored. Raises UNAVAILABLE."""
        entry = FeedbackEntry(
            at=datetime.now(UTC),
            tenant=caller.tenant,
            caller=caller.id,
            label=caller.label,
            useful=useful,
            hits=tuple(hits),
            query=self._redacted(query),
            note=self._redacted(comment),
        )
        subject = names.accounting_subject(names.FEEDBACK, entry.tenant)
        if not await self._outbox.send(Outgoing(subject, new_id(), entry.model_dump_json().encode())):
            raise _not_answered()

    async def flush(self) -> None:
        """Store waiting entries now."""
        await self._outbox.flush()

    @asynccontextmanager
    async def storing(self) -> AsyncIterator[None]:
        """Store waiting entries during a block, and at its end."""
        async with self._outbox.sending():
            yield

    async def page(self, wanted: Wanted) -> EntryPage[HistoryEntry]:
        """Returns the newest questions."""
        subject = names.accounting_subject(names.HISTORY, wanted.tenants)
        return await read_page(self._outbox.js, names.HISTORY, subject, HistoryEntry, wanted)

    async def feedback(self, wanted: Wanted) -> EntryPage[FeedbackEntry]:
        """Returns the newest feedback."""
        subject = names.accounting_subject(names.FEEDBACK, wanted.tenants)
        return await read_page(self._outbox.js, names.FEEDBACK, subject, FeedbackEntry, wanted)

    async def purge(self, tenant: str) -> None:
        """Delete all questions and all feedback of a tenant. Raises UNAVAILABLE."""
        if self._outbox.js is None:
            raise _not_answered()
        for stream in STREAMS:
            try:
                await self._outbox.js.purge_stream(stream, subject=names.accounting_subject(stream, tenant))
            except (NatsError, TimeoutError) as error:
                log.warning("cannot delete the history of a tenant: %s", reason_of(error))
                raise _not_answered() from error

    def _entry(self, caller: Caller, facts: CallFacts) -> HistoryEntry:
        return HistoryEntry(
            at=datetime.now(UTC),
            tenant=caller.tenant,
            caller=caller.id,
            label=caller.label,
            call=facts.call,
            repo=facts.repo,
            query=self._redacted(facts.query)[:QUERY_CHARS_MAX],
            hits=tuple(
                HistoryHit(
                    hit=hit.id,
                    repo=hit.repo,
                    file_path=hit.file_path,
                    start_line=hit.start_line,
                    end_line=hit.end_line,
                    score=hit.score,
                )
                for hit in facts.hits[:HISTORY_HITS_MAX]
            ),
            hits_found=len(facts.hits),
            intent=facts.intent,
            confidence=facts.confidence,
            legs=dict(Count(leg for hit in facts.hits for leg in hit.legs)),
            missing_legs=facts.missing_legs,
            cached=facts.cached,
            corpus_version=facts.corpus_version,
            timings_ms=dict(facts.timings_ms),
        )

    def _redacted(self, text: str) -> str:
        return redact(text, self._rules.secrets.rules).text

    def _count(self, outcome: SendOutcome, _: Outgoing) -> None:
        self._metrics.entries.labels(outcome).inc()


def _not_answered() -> PrismError:
    return PrismError(ErrorCode.UNAVAILABLE, "NATS did not answer.", "Retry in a few seconds.")
