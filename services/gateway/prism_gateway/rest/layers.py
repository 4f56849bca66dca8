"""Branch layers, and overlays of uncommitted edits."""

from fastapi import APIRouter
from starlette.responses import Response

from prism_contracts.rpc.layers import (
    CLOSE_OVERLAY,
    CREATE_LAYER,
    DELETE_LAYER,
    OPEN_OVERLAY,
    CloseOverlayRequest,
    CreateLayerRequest,
    DeleteLayerRequest,
    LayerReply,
)
from prism_contracts.types import Ref, RepoKeyOrNone
from prism_gateway.rest import replies
from prism_gateway.rest.bodies import LayerBody, OverlayBody
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.idempotency import IDEMPOTENT, IdempotentRoute
from prism_gateway.rest.replies import reply

router = APIRouter(tags=["layers"], route_class=IdempotentRoute)


@router.post("/layers", response_model=LayerReply, status_code=202, dependencies=[IDEMPOTENT])
async def create_layer(
    body: LayerBody, caller: Caller, backend: Services, header: RepoHeader = ""
) -> Response:
    """Create or update the layer of a ref, as the remote has it now."""
    request = CreateLayerRequest(tenant=caller.tenant, repo=body.repo or header, ref=body.ref)
    return reply(await backend.ask(CREATE_LAYER, request), status=202, exclude=replies.JOB)


@router.delete("/layers", response_model=LayerReply)
async def delete_layer(
    ref: Ref, caller: Caller, backend: Services, repo: RepoKeyOrNone = "", header: RepoHeader = ""
) -> Response:
    """Delete a layer."""
    request = DeleteLayerRequest(tenant=caller.tenant, repo=repo or header, ref=ref)
    return reply(await backend.ask(DELETE_LAYER, request), exclude=replies.JOB)


@router.post("/overlays", response_model=replies.Overlay, status_code=202, dependencies=[IDEMPOTENT])
async def open_overlay(
    body: OverlayBody, caller: Caller, backend: Services, header: RepoHeader = ""
) -> Response:
    """Open an overlay of uncommitted edits on a branch, or replace its edits.

    Every question accepts its handle as `ref`.
    """
    opened = await backend.ask(OPEN_OVERLAY, body.request(caller.tenant, body.repo or header))
    return reply(replies.Overlay.of(opened), status=202, exclude=replies.JOB)


@router.delete("/overlays/{handle}", response_model=replies.Overlay)
async def close_overlay(
    handle: Ref, caller: Caller, backend: Services, repo: RepoKeyOrNone = "", header: RepoHeader = ""
) -> Response:
    """Delete an overlay."""
    request = CloseOverlayRequest(tenant=caller.tenant, repo=repo or header, handle=handle)
    return reply(replies.Overlay.of(await backend.ask(CLOSE_OVERLAY, request)), exclude=replies.JOB)
