"""The tenants and their plans: who may use Prism, and how much.

The table of plans is a setting. A tenant without a record is active and has the default plan.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, NoReturn

from pydantic import Field, model_validator

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import Limit, Limits, Tenant, TenantRemoval
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket, opened
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
        Limit.MODEL_TOKENS_PER_DAY: 100_000,
        Limit.MODEL_CENTS_PER_DAY: 50,
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
        Limit.MODEL_TOKENS_PER_DAY: 10_000_000,
        Limit.MODEL_CENTS_PER_DAY: 5_000,
    },
}


class PlanSettings(PrismSettings):
    """Settings from `PRISM_…` variables, read at the start."""

    plans: dict[str, Limits] = Field(
        {},
        description="Limits by plan, as JSON, in addition to the plans `laptop`, `free` and `team` or instead of "
        "them. The limits: requests_per_day, requests_per_minute, searches_per_minute, creates_per_minute, "
        "embeddings_per_minute, token_percent, repositories, chunks, imports_at_once, overlays, model_tokens_per_day, "
        "model_cents_per_day; one that is missing is no limit, but for the last two, whose defaults are settings.",
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
        self._watched = await bus.follow(names.KV_TENANTS, Tenant, is_close=True)

    @property
    def records(self) -> Records[Tenant]:
        """The bucket, to read and write."""
        return opened(self._bucket)

    def get(self, tenant: str) -> Tenant | None:
        """Returns the newest known record of a tenant."""
        return self._watched.get(tenant) if self._watched else None

    def all(self) -> list[Tenant]:
        """Returns the newest known record of each tenant."""
        return sorted(self._watched.values(), key=lambda one: one.tenant) if self._watched else []

    async def newest(self) -> list[Tenant]:
        """Returns the record of each tenant, as of now, by id. Raises UNAVAILABLE."""
        _ = self.records  # raises until they are known
        assert self._watched is not None
        await self._watched.require_current("tenants")
        return self.all()

    def is_active(self, tenant: str) -> bool:
        """Whether the tenant may use Prism."""
        known = self.get(tenant)
        return known is None or known.is_active

    def limits_of(self, tenant: str) -> Limits:
        """Returns the limits in effect for a tenant."""
        known = self.get(tenant)
        return self.limits_in_effect(known) if known else self._plans[self._settings.plan_default]

    def limits_in_effect(self, known: Tenant) -> Limits:
        """Returns the limits of a tenant: those of its plan, overridden by its own."""
        # A plan may be gone from the settings since.
        plan = self._plans.get(known.plan, self._plans[self._settings.plan_default])
        return {**plan, **known.limits}

    def plan_named(self, plan: str) -> str:
        """Returns the name of an existing plan; empty means the default one. Raises INVALID_ARGUMENT."""
        if plan and plan not in self._plans:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"There is no plan {shown(plan)}.",
                "Name one of these plans, or add one to PRISM_PLANS.",
                plans=list(self._plans),
            )
        return plan or self._settings.plan_default

    async def create(self, tenant: Tenant) -> None:
        """Store a new tenant. Raises TENANT_EXISTS."""

        def first(known: Tenant | None) -> Tenant:
            if known and known.removal:
                raise PrismError(
                    ErrorCode.TENANT_EXISTS,
                    f"The tenant {known.tenant} is being removed.",
                    "Its id is free about an hour after its removal. Or choose another id.",
                )
            if known:
                raise PrismError(
                    ErrorCode.TENANT_EXISTS,
                    f"There is a tenant {known.tenant} already.",
                    "Change it with `prism tenants update`, and make a token for it with `prism tokens create "
                    "--tenant`. Or choose another id.",
                )
            return tenant

        await self.records.modify(tenant.tenant, first)

    async def change(self, tenant: str, change: Callable[[Tenant], Tenant]) -> Tenant:
        """Replace the record of a tenant, and return it. Raises TENANT_NOT_FOUND."""
        changed = await self.records.change(tenant, lambda known: change(_staying(known)))
        return changed or _unknown(tenant)

    async def find(self, tenant: str) -> Tenant:
        """Returns the record of a tenant, as of now, also while it is being removed. Raises TENANT_NOT_FOUND."""
        return await self.records.get(tenant) or _unknown(tenant)

    async def check(self, tenant: str) -> None:
        """Raise TENANT_NOT_FOUND unless the tenant exists and stays."""
        _staying(await self.find(tenant))

    async def remove(self, tenant: str, now: datetime) -> Tenant:
        """Record that a tenant is removed, which drives its deletion. Idempotent. Raises TENANT_NOT_FOUND."""
        removal = TenantRemoval(requested_at=now, last_found_at=now)
        changes = {"is_active": False, "removal": removal}
        removed = await self.records.change(
            tenant, lambda known: known if known.removal else known.model_copy(update=changes)
        )
        return removed or _unknown(tenant)

    def being_removed(self) -> list[Tenant]:
        """Returns the newest known record of each tenant that is being removed."""
        return [known for known in self.all() if known.removal]

    async def note_removal(self, tenant: str, change: Callable[[TenantRemoval], TenantRemoval]) -> None:
        """Record how far the removal of a tenant is."""

        def noted(known: Tenant) -> Tenant:
            return known.model_copy(update={"removal": change(known.removal)}) if known.removal else known

        await self.records.change(tenant, noted)

    async def forget(self, tenant: str) -> None:
        """Delete the record of a removed tenant: its id is free."""
        await self.records.delete_if(tenant, lambda known: known.removal is not None)

    def limit_of(self, tenant: str, limit: Limit) -> int | None:
        """Returns one limit of a tenant; None is no limit."""
        return self.limits_of(tenant).get(limit)

    async def ensure(self, tenant: str, plan: str) -> None:
        """Store a tenant unless it has a record."""
        first = Tenant(tenant=tenant, plan=plan, created_at=datetime.now(UTC))
        await self.records.modify(tenant, lambda known: known or first)

    async def adopt(self, tenants: Iterable[str]) -> None:
        """Store the tenants that have no record, with the default plan. Older releases stored none."""
        for tenant in tenants:
            if self.get(tenant) is None:
                await self.ensure(tenant, self._settings.plan_default)


def limit_exceeded(limit: Limit, allowed: int, next_action: str) -> PrismError:
    """Returns the error for something that the plan of a tenant does not allow."""
    return PrismError(
        ErrorCode.LIMIT_EXCEEDED,
        f"The tenant's limit `{limit}` is reached: {allowed:,}.",
        next_action,
        limit=limit.value,
        allowed=allowed,
    )


def _staying(known: Tenant) -> Tenant:
    if known.removal:
        raise PrismError(
            ErrorCode.TENANT_NOT_FOUND,
            f"The tenant {known.tenant} is being removed.",
            "`prism tenants list` lists the tenants.",
        )
    return known


def _unknown(tenant: str) -> NoReturn:
    raise PrismError(
        ErrorCode.TENANT_NOT_FOUND,
        f"There is no tenant {shown(tenant)}.",
        "`prism tenants list` lists the tenants, and `prism tenants create` makes one.",
    )
