"""The endpoint for forges. They cannot send a token; the signature of the body replaces it."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from prism_gateway.rest import replies
from prism_gateway.rest.dependencies import Webhooks
from prism_gateway.rest.replies import reply

WEBHOOK_DOC = {
    "requestBody": {
        "required": True,
        "description": "A webhook of GitHub, GitLab or Gitea, as JSON or as a form.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    },
    "security": [],
}

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest/webhook", response_model=replies.WebhookTaken, status_code=202, openapi_extra=WEBHOOK_DOC
)
async def webhook(request: Request, webhooks: Webhooks) -> Response:
    """Receive a webhook of a forge. The response is sent once the event is stored on the bus."""
    declared = request.headers.get("content-length", "")
    async with webhooks.bodies.held(declared, request.stream()) as body:
        taken = await webhooks.receive(request.headers, body)
    return reply(replies.WebhookTaken(**taken._asdict()), status=202)
