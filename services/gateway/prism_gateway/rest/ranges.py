"""What the lists of past events share: the tenant they are about, a range of time, and pages."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Depends, Query, Request

from prism_contracts.accounting import NO_ONE
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import TENANT_PATTERN, Cursor, ShortLine
from prism_gateway.accounting.pages import EVERY_TENANT, Wanted
from prism_gateway.callers import Caller, caller_of
from prism_gateway.grants import check_whole_tenant, tenant_for
from prism_runtime.cursors import read_cursor, write_cursor

RANGE_DAYS_MAX = 400
DEFAULT_RANGE = timedelta(days=7)
PAGE_MAX = 1_000
PAGE_DEFAULT = 100

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
    try:
        end = _utc(until) if until else datetime.now(UTC)
        begin = _utc(since) if since else end - DEFAULT_RANGE
    except OverflowError as error:  # in the first or the last year of the calendar
        raise _no_range() from error
    if not timedelta(0) <= end - begin <= timedelta(days=RANGE_DAYS_MAX):
        raise _no_range()
    return begin, end


@dataclass(frozen=True)
class ListPart:
    """The part of a list that a request asks for."""

    question: str
    wanted: Wanted

    def cursor(self, position: int) -> str:
        """Returns the cursor of the page that begins at a position; empty for 0, the end of the list."""
        return write_cursor(self.question, position) if position else ""


async def _part(
    request: Request,
    *,
    tenant: TenantOrAll = "",
    since: Since = None,
    until: Until = None,
    actor: Annotated[ShortLine, Query(description="Id or label of the token or person.")] = "",
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = PAGE_DEFAULT,
) -> ListPart:
    caller = caller_of(request)
    check_whole_tenant(caller)
    begin, end = time_range(since, until)
    question = request.url.path + repr(
        sorted(item for item in request.query_params.multi_items() if item[0] not in ("cursor", "limit"))
    )
    [position] = read_cursor(question, cursor, (int,)) if cursor else (0,)
    wanted = Wanted(tenant_or_all(caller, tenant), begin, end, actor, limit, int(position))
    return ListPart(question, wanted)


Paged = Annotated[ListPart, Depends(_part)]


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _no_range() -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        "`since` should be before `until`, by at most 400 days.",
        "Correct the range of time.",
    )
