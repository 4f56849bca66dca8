"""The audit: who changed what, when, and from where."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.accounting import AuditAction
from prism_contracts.types import Cursor, ShortLine
from prism_gateway.accounting.audit import AuditFilter
from prism_gateway.grants import check_whole_tenant
from prism_gateway.rest import replies
from prism_gateway.rest.dependencies import AuditBook, Caller
from prism_gateway.rest.ranges import Since, TenantOrAll, Until, tenant_or_all, time_range
from prism_gateway.rest.replies import reply
from prism_runtime.cursors import read_cursor, write_cursor

PAGE_MAX = 1_000
PAGE_DEFAULT = 100

router = APIRouter(tags=["accounting"])


@router.get("/audit", response_model=replies.Audit)
async def audit(
    *,
    caller: Caller,
    book: AuditBook,
    tenant: TenantOrAll = "",
    since: Since = None,
    until: Until = None,
    actor: Annotated[ShortLine, Query(description="Id or label of the token or person.")] = "",
    action: AuditAction | None = None,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = PAGE_DEFAULT,
) -> Response:
    """List changes, the newest first: who made them, when, from where, and how they ended.

    A page may have fewer entries than `limit`. `next_cursor` is empty at the end of the list.
    """
    check_whole_tenant(caller)
    owner = tenant_or_all(caller, tenant)
    begin, end = time_range(since, until)
    question = f"audit {owner} {since} {until} {actor} {action}"
    [position] = read_cursor(question, cursor, (int,)) if cursor else (0,)
    wanted = AuditFilter(tenant=owner, since=begin, until=end, actor=actor, action=action)
    page = await book.page(wanted, limit, int(position))
    next_cursor = write_cursor(question, page.next_position) if page.next_position else ""
    return reply(replies.Audit(entries=page.entries, next_cursor=next_cursor))
