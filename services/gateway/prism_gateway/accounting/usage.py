"""Counts each call once, and stores the sums of each hour in a stream.

A copy of the gateway has a subject per tenant and hour of its own, and replaces its message every few
seconds. So nothing is added twice, and a copy that dies loses the calls since its last message only.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StorageType, StreamConfig
from prometheus_client import CollectorRegistry, Counter, Gauge
from pydantic import ValidationError

from prism_catalog.shared_buckets import open_model_days
from prism_contracts import names
from prism_contracts.accounting import ModelDay, UsageHour
from prism_contracts.errors import reason_of
from prism_contracts.records import model_day_key
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.accounting.usage_report import UsageBy, UsageOf, UsageReport, report
from prism_gateway.accounting.usage_sums import UsageSums, Use
from prism_gateway.callers import Caller
from prism_runtime.bus import Bus
from prism_runtime.metrics import OTHER
from prism_runtime.records import Records
from prism_runtime.streams import read_stream
from prism_runtime.tasks import running

STORED_EVERY_S = 5.0
PUBLISH_TIMEOUT_S = 2.0
GATEWAY_ID_BYTES = 6
EVERY_TENANT = "*"
TENANTS_SHOWN_MAX = 20
MODEL_DAYS_READ_MAX = 100  # they are kept for fewer

log = logging.getLogger(__name__)


class UsageMetrics:
    """Counts what was stored, and shows which tenants use most."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.stored = Counter(
            "prism_usage_stored",
            "Hourly sums of usage that were sent to NATS, by outcome: stored, failed (sent again later).",
            ["outcome"],
            registry=registry,
        )
        self._use = Gauge(
            "prism_tenant_use",
            f"What the {TENANTS_SHOWN_MAX} tenants with the most calls of this copy of the gateway used since the hour "
            "began, and all others as `other`, by kind: calls, errors, tokens, seconds.",
            ["tenant", "kind"],
            registry=registry,
        )

    def show_use(self, by_tenant: Mapping[str, Use]) -> None:
        """Show these tenants only."""
        self._use.clear()
        others = Use()
        for rank, (tenant, use) in enumerate(sorted(by_tenant.items(), key=lambda one: -one[1].calls)):
            # A tenant may have that name.
            if rank >= TENANTS_SHOWN_MAX or tenant == OTHER:
                others.add(use)
            else:
                self._show(tenant, use)
        self._show(OTHER, others)

    def _show(self, tenant: str, use: Use) -> None:
        for kind in fields(use):
            self._use.labels(tenant, kind.name).set(getattr(use, kind.name))


class UsageLog:
    """The usage of all tenants, as this copy of the gateway counts it and as NATS stores it."""

    def __init__(self, metrics: UsageMetrics) -> None:
        self._metrics = metrics
        self._gateway = secrets.token_hex(GATEWAY_ID_BYTES)
        self._sums = UsageSums(self._gateway)
        self._js: JetStreamContext | None = None
        self._model_days: Records[ModelDay] | None = None

    async def open(self, bus: Bus, *, days: int, bytes_max: int, replicas: int) -> None:
        """Declare the stream."""
        await bus.keep_stream(
            StreamConfig(
                name=names.USAGE,
                subjects=[names.accounting_subject(names.USAGE, ">")],
                storage=StorageType.FILE,
                max_msgs_per_subject=1,
                max_age=days * 24 * names.HOUR_S,
                max_bytes=bytes_max,
                num_replicas=replicas,
            )
        )
        self._js = bus.broker.connection.jetstream()
        self._model_days = Records(await open_model_days(bus, replicas=replicas), ModelDay)

    def count(self, caller: Caller | None, facts: CallFacts, began: float) -> None:
        """Count a call that began at a time of `time.perf_counter`."""
        self._sums.add(caller, facts, 1000 * (time.perf_counter() - began), datetime.now(UTC))

    @asynccontextmanager
    async def storing(self) -> AsyncIterator[None]:
        """Store sums regularly during a block, and at its end."""
        async with running(self._store_regularly()):
            yield
        await self.store()

    async def store(self) -> None:
        """Store what changed. What cannot be stored is kept for the next time."""
        if self._js is None:
            return
        for hour, sums in self._sums.unstored():
            subject = names.accounting_subject(
                names.USAGE, hour.tenant, f"{hour.hour:%Y%m%d%H}", hour.gateway
            )
            try:
                await self._js.publish(subject, hour.model_dump_json().encode(), timeout=PUBLISH_TIMEOUT_S)
            except (NatsError, TimeoutError) as error:
                sums.is_stored = False
                self._metrics.stored.labels("failed").inc()
                log.warning("cannot store usage, will try again: %s", reason_of(error))
                return
            self._metrics.stored.labels("stored").inc()
        self._sums.forget_stored(datetime.now(UTC))

    async def report(
        self, tenant: str, since: datetime, until: datetime, by: UsageBy, of: UsageOf | None = None
    ) -> UsageReport:
        """Returns the usage of a tenant, or of all if it is empty. `of` narrows it to some calls."""
        await self.store()
        hours = [hour async for hour in self._read(tenant, since)]
        days = await self._read_model_days(tenant, since.date(), until.date())
        return report(hours, tenant, since, until, by, of=of, days=days)

    async def _read_model_days(self, tenant: str, first: date, last: date) -> list[ModelDay]:
        """Returns what a tenant, or all, used of language models on these days and those between."""
        if self._model_days is None:
            return []
        if not tenant:
            return [day for day in await self._model_days.all() if first <= day.day <= last]
        count = min(MODEL_DAYS_READ_MAX, (last - first).days + 1)
        dates = (last - timedelta(days=back) for back in range(count))
        read = await asyncio.gather(*(self._model_days.get(model_day_key(tenant, one)) for one in dates))
        return [day for day in read if day]

    async def _read(self, tenant: str, since: datetime) -> AsyncIterator[UsageHour]:
        if self._js is None:
            return
        subject = names.accounting_subject(names.USAGE, tenant or EVERY_TENANT, ">")
        # The message of an hour is never older than the hour.
        async for message in read_stream(self._js, names.USAGE, subject, since=since):
            try:
                yield UsageHour.model_validate_json(message.data)
            except ValidationError as error:
                log.error("usage of %s cannot be read: %s", message.subject, error)  # noqa: TRY400

    async def _store_regularly(self) -> None:
        while True:
            await asyncio.sleep(STORED_EVERY_S)
            self._metrics.show_use(self._sums.by_tenant(datetime.now(UTC)))
            await self.store()
