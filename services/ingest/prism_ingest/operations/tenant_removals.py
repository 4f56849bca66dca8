"""Deletes what is left of removed tenants.

The record of the tenant drives it: the gateway marks it as removed and refuses the tenant from then on. The
steps are idempotent and are repeated, so a crash only delays them. Work that was running at the removal may
write once more. So everything is deleted again every minute, until nothing was found for an hour, and only
then is the record deleted, which frees the id.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from prism_catalog.tenants import Tenants
from prism_contracts.errors import reason_of
from prism_contracts.records import Job, RemovedCounts, TenantRemoval, Token
from prism_contracts.rpc.repositories import DROP_TENANT, DropTenantRequest
from prism_ingest.adapters.lease import Lease
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.leftovers import Leftovers
from prism_ingest.adapters.mirrors import Mirrors
from prism_ingest.adapters.plans import PlanStore
from prism_ingest.operations.cancelling import Cancelling
from prism_ingest.operations.job_tracker import ENDED_WELL
from prism_ingest.operations.removals import SETTLES
from prism_runtime.bus import Bus
from prism_runtime.records import Records

ROUND_S = 1.0  # a round without a removed tenant costs nothing
REPEATED_AFTER = timedelta(minutes=1)
DROP_TIMEOUT_S = 60.0
WHY = "Its tenant was removed."

log = logging.getLogger(__name__)


class TenantRemovals:
    """Removals of tenants."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        tenants: Tenants,
        tokens: Records[Token],
        *,
        leftovers: Leftovers,
        plans: PlanStore,
        mirrors: Mirrors,
        cancelling: Cancelling,
        lease: Lease,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._tenants = tenants
        self._tokens = tokens
        self._leftovers = leftovers
        self._plans = plans
        self._mirrors = mirrors
        self._cancelling = cancelling
        self._lease = lease
        self._next: dict[str, datetime] = {}  # by tenant: when its data is deleted again

    async def run(self) -> None:
        """Run a round every second, until cancelled."""
        while True:
            try:
                await self.round(datetime.now(UTC))
            except Exception as error:  # noqa: BLE001 - the next round runs in any case
                log.warning("cannot delete what is left of removed tenants: %s", reason_of(error))
            await asyncio.sleep(ROUND_S)

    async def round(self, now: datetime) -> None:
        """Delete what is left of removed tenants at `now`. Does nothing if another copy of ingest does it."""
        removed = [one.tenant for one in self._tenants.being_removed()]
        due = [tenant for tenant in removed if now >= self._next.get(tenant, now)]
        if not due or not await self._lease.hold():
            return
        for tenant in due:
            try:
                await self._delete(tenant, now)
                self._next[tenant] = now + REPEATED_AFTER
            except Exception as error:  # noqa: BLE001 - the next round repeats it
                log.warning("cannot delete what is left of the tenant %s: %s", tenant, reason_of(error))

    async def _delete(self, tenant: str, now: datetime) -> None:
        is_last = await self._is_settled(tenant, now)
        jobs = [job for job in await self._ledger.jobs.all() if job.tenant == tenant]
        steps: tuple[Callable[[], Awaitable[RemovedCounts]], ...] = (
            lambda: self._drop_repositories(tenant),
            lambda: self._cancel_jobs(jobs),
            lambda: self._leftovers.delete_of_tenant(tenant),
            lambda: self._drop_points(tenant),
            lambda: self._delete_tokens(tenant),
        )
        for step in steps:
            found = await step()
            if found != RemovedCounts():
                is_last = False
                await self._tenants.note_removal(tenant, partial(_added, found=found, now=now))
        if is_last:
            await self._finish(tenant, jobs)
        else:
            await self._mirrors.drop_unknown(self._places)
            await self._tenants.note_removal(tenant, partial(_deleted, now=now))

    async def _is_settled(self, tenant: str, now: datetime) -> bool:
        """Whether nothing was found for an hour, as of now: the copy of the records may lag behind."""
        removal = (await self._tenants.find(tenant)).removal
        return bool(removal and removal.deleted_at and now - removal.last_found_at >= SETTLES)

    async def _finish(self, tenant: str, jobs: list[Job]) -> None:
        # Until now, the jobs kept late messages from having an effect.
        for job in jobs:
            await self._ledger.jobs.delete(job.job)
        await self._leftovers.forget_keys(tenant)
        await self._tenants.forget(tenant)
        self._next.pop(tenant, None)
        log.info("nothing is left of the tenant %s", tenant)

    async def _drop_repositories(self, tenant: str) -> RemovedCounts:
        found = [one for one in await self._ledger.repositories.all() if one.tenant == tenant]
        for repository in found:
            await self._ledger.drop_repository(tenant, repository.repo)
        return RemovedCounts(repositories=len(found))

    async def _cancel_jobs(self, jobs: list[Job]) -> RemovedCounts:
        """End running jobs, and have the queued files of all that did not complete skipped."""
        unfinished = [job for job in jobs if job.state not in ENDED_WELL]
        ended = [await self._cancelling.cancel_for_good(job, WHY) for job in unfinished]
        for job in jobs:
            await self._plans.drop(job.job)
        return RemovedCounts(jobs_cancelled=sum(ended))

    async def _drop_points(self, tenant: str) -> RemovedCounts:
        request = DropTenantRequest(tenant=tenant)
        reply = await self._bus.ask(DROP_TENANT, request, timeout_s=DROP_TIMEOUT_S)
        return RemovedCounts(points=reply.points)

    async def _delete_tokens(self, tenant: str) -> RemovedCounts:
        found = [digest for digest, token in await self._tokens.items() if token.tenant == tenant]
        for digest in found:
            await self._tokens.delete(digest)
        return RemovedCounts(tokens=len(found))

    async def _places(self) -> set[tuple[str, str]]:
        """Returns tenant and id of every repository."""
        return {(one.tenant, one.repo) for one in await self._ledger.repositories.all()}


def _added(removal: TenantRemoval, found: RemovedCounts, now: datetime) -> TenantRemoval:
    counts = {field: getattr(removal.removed, field) + count for field, count in found}
    return removal.model_copy(update={"removed": RemovedCounts(**counts), "last_found_at": now})


def _deleted(removal: TenantRemoval, now: datetime) -> TenantRemoval:
    return removal if removal.deleted_at else removal.model_copy(update={"deleted_at": now})
