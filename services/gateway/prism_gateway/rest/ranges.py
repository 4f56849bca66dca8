"""What the lists of past events share: the tenant they are about, and a range of time."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Query

from prism_contracts.accounting import NO_ONE
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import TENANT_PATTERN
from prism_gateway.callers import Caller
from prism_gateway.grants import tenant_for

RANGE_DAYS_MAX = 400
DEFAULT_RANGE = timedelta(days=7)
EVERY_TENANT = "*"

TenantOrAll = Annotated[
    str,
    Query(
        max_length=63,
        pattern=rf"^(?:{TENANT_PATTERN[1:-1]}|[*-])?$",
        description="For the scope `operator`: another tenant, `*` for all, `-` for calls that identified no one.",
    ),
]
Since = Annotated[datetime | None, Query(description="Default: seven days before `until`.")]
Until = Annotated[datetime | None, Query(description="Default: now.")]


def tenant_or_all(caller: Caller, tenant: str) -> str:
    """Returns the tenant that a list is about, empty for all. Raises FORBIDDEN if the caller may not see it."""
    if tenant not in (EVERY_TENANT, NO_ONE):
        return tenant_for(caller, tenant)
    tenant_for(caller, "all-tenants")  # refuses everyone but an operator
    return "" if tenant == EVERY_TENANT else tenant


def time_range(since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
    """Returns the range in UTC. Raises INVALID_ARGUMENT if it is none, or too long."""
    end = _utc(until) if until else datetime.now(UTC)
    begin = _utc(since) if since else end - DEFAULT_RANGE
    if not timedelta(0) <= end - begin <= timedelta(days=RANGE_DAYS_MAX):
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "`since` should be before `until`, by at most 400 days.",
            "Correct the range of time.",
        )
    return begin, end


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
