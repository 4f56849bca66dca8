"""The search history of a tenant, and feedback about answers."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.types import TenantIdOrNone
from prism_gateway.grants import check_whole_tenant, tenant_for
from prism_gateway.rest import replies
from prism_gateway.rest.bodies import FeedbackBody, HistoryBody
from prism_gateway.rest.dependencies import Caller, History, Registry, ThisChange
from prism_gateway.rest.ranges import Paged
from prism_gateway.rest.replies import reply

TenantQuery = Annotated[TenantIdOrNone, Query(description="Another tenant, for the scope `operator`.")]

router = APIRouter(tags=["accounting"])


@router.get("/search-history", response_model=replies.SearchHistory)
async def search_history(part: Paged, history: History, caller: Caller) -> Response:
    """List questions with the ids and places of their hits, the newest first.

    A page may have fewer entries than `limit`. `next_cursor` is empty at the end of the list.
    """
    page = await history.page(part.wanted)
    listed = replies.SearchHistory(
        is_on=history.is_on(part.wanted.tenant or caller.tenant),
        entries=page.entries,
        next_cursor=part.cursor(page.next_position),
    )
    return reply(listed)


@router.put("/search-history", response_model=replies.HistoryState)
async def switch_search_history(
    body: HistoryBody, *, caller: Caller, history: History, tenants: Registry, change: ThisChange
) -> Response:
    """Turn the search history of the tenant on or off. Entries that are stored stay."""
    check_whole_tenant(caller)
    owner = change.subject = change.tenant = tenant_for(caller, body.tenant)
    change.describe(search_history=str(body.is_on))
    known = await tenants.change(owner, lambda known: known.model_copy(update={"search_history": body.is_on}))
    return reply(replies.HistoryState(tenant=owner, is_on=history.is_on_for(known)))


@router.delete("/search-history", response_model=replies.HistoryState)
async def delete_search_history(
    *, caller: Caller, history: History, change: ThisChange, tenant: TenantQuery = ""
) -> Response:
    """Delete all questions and all feedback of the tenant."""
    check_whole_tenant(caller)
    owner = change.subject = change.tenant = tenant_for(caller, tenant)
    await history.purge(owner)
    return reply(replies.HistoryState(tenant=owner, is_on=history.is_on(owner)))


@router.post("/feedback", response_model=replies.Stored, status_code=202)
async def send_feedback(body: FeedbackBody, caller: Caller, history: History) -> Response:
    """Say whether an answer, or some of its hits, was useful."""
    await history.keep_feedback(
        caller, useful=body.useful, hits=body.hits, query=body.query, comment=body.comment
    )
    return reply(replies.Stored(stored=True), status=202)


@router.get("/feedback", response_model=replies.FeedbackPage)
async def list_feedback(part: Paged, history: History) -> Response:
    """List what callers said about answers, the newest first."""
    page = await history.feedback(part.wanted)
    listed = replies.FeedbackPage(entries=page.entries, next_cursor=part.cursor(page.next_position))
    return reply(listed)
