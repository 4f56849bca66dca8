"""Usage: sums of calls of the tenant, or of all tenants."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_gateway.accounting.usage_report import UsageBy, UsageOf, UsageReport
from prism_gateway.grants import check_whole_tenant
from prism_gateway.rest.dependencies import Caller, UsageBook
from prism_gateway.rest.ranges import Since, TenantOrAll, Until, tenant_or_all, time_range
from prism_gateway.rest.replies import reply

NAME_CHARS_MAX = 300
Narrowed = Annotated[str, Query(max_length=NAME_CHARS_MAX, description="Only these calls.")]

router = APIRouter(tags=["accounting"])


@router.get("/usage", response_model=UsageReport)
async def usage(
    *,
    caller: Caller,
    sums: UsageBook,
    tenant: TenantOrAll = "",
    since: Since = None,
    until: Until = None,
    by: Annotated[UsageBy, Query(description="What the sums are grouped by.")] = UsageBy.CALL,
    repository: Narrowed = "",
    called_by: Annotated[
        str, Query(alias="caller", max_length=NAME_CHARS_MAX, description="Only calls of this id or label.")
    ] = "",
    call: Narrowed = "",
) -> Response:
    """Add up calls by hour of the day they were made in: how many, how long, how many tokens, and an estimate
    of the tokens that they saved.
    """
    check_whole_tenant(caller)
    begin, end = time_range(since, until)
    hour = begin.replace(minute=0, second=0, microsecond=0)
    of = UsageOf(repository=repository, caller=called_by, call=call)
    return reply(await sums.report(tenant_or_all(caller, tenant), hour, end, by, of))
