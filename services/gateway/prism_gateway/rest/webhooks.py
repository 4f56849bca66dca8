"""The endpoint for forges. They cannot send a token; the signature of the body replaces it."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from prism_contracts.accounting import AuditAction, AuditEntry
from prism_gateway.accounting.audit import new_id
from prism_gateway.accounting.changes import CallChange
from prism_gateway.callers import address_of
from prism_gateway.rest import replies
from prism_gateway.rest.dependencies import AuditBook, Webhooks
from prism_gateway.rest.replies import reply
from prism_gateway.webhooks.receiver import QueuedPush

WEBHOOK_DOC = {
    "requestBody": {
        "required": True,
        "description": "A webhook of GitHub, GitLab, Gitea or Bitbucket, as JSON or as a form.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    },
    "security": [],
}

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest/webhook", response_model=replies.WebhookTaken, status_code=202, openapi_extra=WEBHOOK_DOC
)
async def webhook(request: Request, webhooks: Webhooks, audit: AuditBook) -> Response:
    """Receive a webhook of a forge. The response is sent once the event is stored on the bus."""
    declared = request.headers.get("content-length", "")
    async with webhooks.bodies.held(declared, request.stream()) as body:
        taken = await webhooks.receive(request.headers, body)
    await audit.record(*(_entry(push, address_of(request.scope)) for push in taken.queued))
    answer = replies.WebhookTaken(
        outcome=taken.outcome, event=taken.event, reason=taken.reason, repositories=taken.repositories
    )
    return reply(answer, status=202)


def _entry(queued: QueuedPush, address: str) -> AuditEntry:
    hook = queued.hook
    change = CallChange(queued.name)
    if hook.push:
        change.describe(ref=hook.push.pull_request or hook.push.ref, commit=hook.push.commit)
    change.describe(delivery=hook.delivery)
    return AuditEntry(
        id=new_id(),
        at=datetime.now(UTC),
        tenant=queued.tenant,
        action=AuditAction.WEBHOOK_ACCEPTED,
        subject=change.subject,
        caller=f"webhook:{hook.provider.value}",
        address=address,
        details=change.details,
    )
