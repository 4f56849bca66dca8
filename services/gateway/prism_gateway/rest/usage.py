"""Usage: sums of calls of the tenant, or of all tenants."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.accounting import NO_ONE
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import TENANT_PATTERN
from prism_gateway.accounting.usage_report import UsageBy, UsageReport
from prism_gateway.grants import check_whole_tenant, tenant_for
from prism_gateway.rest.dependencies import Caller, UsageBook
from prism_gateway.rest.replies import reply

DEFAULT_RANGE = timedelta(days=7)
RANGE_DAYS_MAX = 400
EVERY_TENANT = "*"
TENANT_OR_ALL = rf"^(?:{TENANT_PATTERN[1:-1]}|[*-])?$"

router = APIRouter(tags=["accounting"])


@router.get("/usage", response_model=UsageReport)
async def usage(
    *,
    caller: Caller,
    sums: UsageBook,
    tenant: Annotated[
        str,
        Query(
            max_length=63,
            pattern=TENANT_OR_ALL,
            description="For the scope `operator`: another tenant, `*` for all, `-` for calls that identified no one.",
        ),
    ] = "",
    since: Annotated[datetime | None, Query(description="Default: seven days before `until`.")] = None,
    until: Annotated[datetime | None, Query(description="Default: now.")] = None,
    by: Annotated[UsageBy, Query(description="What the sums are grouped by.")] = UsageBy.CALL,
) -> Response:
    """Add up calls by hour of the day they were made in: how many, how long, how many tokens, and an estimate
    of the tokens that they saved.
    """
    check_whole_tenant(caller)
    end = _utc(until) if until else datetime.now(UTC)
    begin = _utc(since) if since else end - DEFAULT_RANGE
    if not timedelta(0) <= end - begin <= timedelta(days=RANGE_DAYS_MAX):
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "`since` should be before `until`, by at most 400 days.",
            "Correct the range of time.",
        )
    hour = begin.replace(minute=0, second=0, microsecond=0)
    return reply(await sums.report(_tenant(caller, tenant), hour, end, by))


def _tenant(caller: Caller, tenant: str) -> str:
    if tenant not in (EVERY_TENANT, NO_ONE):
        return tenant_for(caller, tenant)
    tenant_for(caller, "all-tenants")  # refuses everyone but an operator
    return "" if tenant == EVERY_TENANT else tenant


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
