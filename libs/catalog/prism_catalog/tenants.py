"""The tenants and their plans: who may use Prism, and how much.

The table of plans is a setting. A tenant without a record is active and has the default plan.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from pydantic import Field, model_validator

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Limit, Limits, Tenant
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket
from prism_runtime.settings import PrismSettings

LAPTOP: Final = "laptop"
PLANS: Final[Mapping[str, Limits]] = {
    LAPTOP: {},
    "free": {
        Limit.REQUESTS_PER_DAY: 1_000,
        Limit.REQUESTS_PER_MINUTE: 120,
        Limit.SEARCHES_PER_MINUTE: 60,
        Limit.CREATES_PER_MINUTE: 10,
        Limit.EMBEDDINGS_PER_MINUTE: 30,
        Limit.REPOSITORIES: 3,
        Limit.CHUNKS: 100_000,
        Limit.IMPORTS_AT_ONCE: 1,
        Limit.OVERLAYS: 4,
    },
    "team": {
        Limit.REQUESTS_PER_DAY: 100_000,
        Limit.REQUESTS_PER_MINUTE: 2_400,
        Limit.SEARCHES_PER_MINUTE: 1_200,
        Limit.CREATES_PER_MINUTE: 120,
        Limit.EMBEDDINGS_PER_MINUTE: 600,
        Limit.TOKEN_PERCENT: 50,
        Limit.REPOSITORIES: 500,
        Limit.CHUNKS: 20_000_000,
        Limit.IMPORTS_AT_ONCE: 8,
        Limit.OVERLAYS: 500,
    },
}


class PlanSettings(PrismSettings):
    """Settings from `PRISM_…` variables, read at the start."""

    plans: dict[str, Limits] = Field(
        {},
        description="Limits by plan, as JSON, in addition to the plans `laptop`, `free` and `team` or instead of "
        "them. The limits: requests_per_day, requests_per_minute, searches_per_minute, creates_per_minute, "
        "embeddings_per_minute, token_percent, repositories, chunks, imports_at_once, overlays; one that is missing is "
        "no limit.",
    )
    plan_default: str = Field(LAPTOP, description="Plan of tenants without a record.")

    @model_validator(mode="after")
    def _default_exists(self) -> "PlanSettings":
        if self.plan_default not in self.all_plans:
            raise ValueError(f"PRISM_PLAN_DEFAULT is none of the plans: {', '.join(self.all_plans)}")
        return self

    @property
    def all_plans(self) -> Mapping[str, Limits]:
        """The limits of every plan."""
        return {**PLANS, **self.plans}


class Tenants:
    """The tenants. An in-memory copy follows the bucket."""

    def __init__(self, settings: PlanSettings) -> None:
        self._settings = settings
        self._plans = settings.all_plans
        self._bucket: Records[Tenant] | None = None
        self._watched: WatchedRecords[Tenant] | None = None

    async def open(self, bus: Bus, *, replicas: int) -> None:
        """Start following the bucket. Returns once the copy is complete."""
        self._bucket = Records(await open_bucket(bus.js, names.KV_TENANTS, replicas=replicas), Tenant)
        self._watched = await bus.follow(names.KV_TENANTS, Tenant)

    @property
    def records(self) -> Records[Tenant]:
        """The bucket, to read and write."""
        if self._bucket is None:
            raise PrismError(
                ErrorCode.UNAVAILABLE, "Prism is not connected to NATS yet.", "Retry in a few seconds."
            )
        return self._bucket

    def get(self, tenant: str) -> Tenant | None:
        """Returns the newest known record of a tenant."""
        return self._watched.get(tenant) if self._watched else None

    def all(self) -> list[Tenant]:
        """Returns the newest known record of each tenant."""
        return sorted(self._watched.values(), key=lambda one: one.tenant) if self._watched else []

    def is_active(self, tenant: str) -> bool:
        """Whether the tenant may use Prism."""
        known = self.get(tenant)
        return known is None or known.is_active

    def limits_of(self, tenant: str) -> Limits:
        """Returns the limits of a tenant: those of its plan, overridden by its own."""
        known = self.get(tenant)
        plan = known.plan if known else self._settings.plan_default
        # A plan may be gone from the settings since.
        limits = self._plans.get(plan, self._plans[self._settings.plan_default])
        return {**limits, **known.limits} if known else limits

    def limit_of(self, tenant: str, limit: Limit) -> int | None:
        """Returns one limit of a tenant; None is no limit."""
        return self.limits_of(tenant).get(limit)

    async def ensure(self, tenant: str, plan: str) -> None:
        """Store a tenant unless it has a record."""
        first = Tenant(tenant=tenant, plan=plan, created_at=datetime.now(UTC))
        await self.records.modify(tenant, lambda known: known or first)


def limit_exceeded(limit: Limit, allowed: int, next_action: str) -> PrismError:
    """Returns the error for something that the plan of a tenant does not allow."""
    return PrismError(
        ErrorCode.LIMIT_EXCEEDED,
        f"The tenant's limit `{limit}` is reached: {allowed:,}.",
        next_action,
        limit=limit.value,
        allowed=allowed,
    )
