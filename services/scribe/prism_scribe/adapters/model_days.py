"""What tenants used of language models by day, in NATS: shared by all copies of scribe."""

from collections.abc import Callable
from datetime import UTC, date, datetime

from nats.errors import Error as NatsError

from prism_catalog.shared_buckets import open_model_days
from prism_catalog.tenants import Tenants
from prism_contracts.accounting import ModelDay, ModelUse
from prism_contracts.records import Limit, model_day_key
from prism_runtime.bus import Bus
from prism_runtime.records import Records
from prism_scribe.core.model_budgets import MICRODOLLARS_PER_CENT, Caps, Cost, fits, reserve, settle


class ModelDays:
    """The budgets of all tenants. Raises OSError if NATS does not answer."""

    def __init__(
        self,
        records: Records[ModelDay],
        caps: Callable[[str], Caps],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._records = records
        self._caps = caps
        self._now = now

    @classmethod
    async def open(cls, bus: Bus, caps: Callable[[str], Caps], *, replicas: int) -> "ModelDays":
        """Open the bucket."""
        return cls(Records(await open_model_days(bus, replicas=replicas), ModelDay), caps)

    async def reserve(self, tenant: str, cost: Cost) -> date | None:
        """Reserve what a call may cost. Returns the day that it counts for; None if the day's budget is used."""
        day = self._now().date()
        caps, is_reserved = self._caps(tenant), False

        def change(found: ModelDay | None) -> ModelDay:
            nonlocal is_reserved
            known = found or ModelDay(tenant=tenant, day=day)
            is_reserved = fits(known, cost, caps)
            return reserve(known, cost) if is_reserved else known

        await self._modify(tenant, day, change)
        return day if is_reserved else None

    async def settle(self, tenant: str, day: date, reserved: Cost, use: ModelUse) -> None:
        """Count what a call did cost, in place of its reservation."""
        await self._modify(
            tenant, day, lambda found: settle(found or ModelDay(tenant=tenant, day=day), reserved, use)
        )

    async def _modify(self, tenant: str, day: date, change: Callable[[ModelDay | None], ModelDay]) -> None:
        try:
            await self._records.modify(model_day_key(tenant, day), change)
        except (NatsError, TimeoutError) as error:
            raise OSError(str(error)) from error


def caps_of(tenants: Tenants, *, tokens: int, cents: int) -> Callable[[str], Caps]:
    """Returns what gives the limits of a tenant: its own, or those of its plan, or these."""

    def caps(tenant: str) -> Caps:
        limits = tenants.limits_of(tenant)
        most = limits.get(Limit.MODEL_CENTS_PER_DAY, cents)
        return Caps(
            limits.get(Limit.MODEL_TOKENS_PER_DAY, tokens),
            None if most is None else most * MICRODOLLARS_PER_CENT,
        )

    return caps
