"""The audit: who changed what, when, and from where."""

from fastapi import APIRouter
from starlette.responses import Response

from prism_contracts.accounting import AuditAction
from prism_gateway.rest import replies
from prism_gateway.rest.dependencies import AuditBook
from prism_gateway.rest.ranges import Paged
from prism_gateway.rest.replies import reply

router = APIRouter(tags=["accounting"])


@router.get("/audit", response_model=replies.Audit)
async def audit(part: Paged, book: AuditBook, action: AuditAction | None = None) -> Response:
    """List changes, the newest first: who made them, when, from where, and how they ended.

    A page may have fewer entries than `limit`. `next_cursor` is empty at the end of the list.
    """
    page = await book.page(part.wanted, action)
    return reply(replies.Audit(entries=page.entries, next_cursor=part.cursor(page.next_position)))
