"""Branch layers and overlays."""

from typing import Annotated

from pydantic import Field

from prism_contracts.base import Lane, Message
from prism_contracts.records import Job, Layer
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.imports import EDIT_FILES_MAX, FileEdit
from prism_contracts.types import (
    CommitIdOrNone,
    EditDiff,
    Ref,
    RefName,
    RefOrNone,
    RepoKey,
)

OVERLAY_TTL_MIN_S = 60
OVERLAY_TTL_DEFAULT_S = 8 * 3600
OVERLAY_TTL_MAX_S = 7 * 24 * 3600


class CreateLayerRequest(CallerRequest):
    """Creates or updates the layer of a branch, tag or commit of a repository that Prism fetches."""

    repo: RepoKey  # owner/name
    ref: Annotated[RefName, Field(min_length=1)]
    lane: Lane = Lane.LIVE


class DeleteLayerRequest(CallerRequest):
    """Deletes a layer."""

    repo: RepoKey
    ref: Ref


class LayerReply(Message):
    """A layer, and the job that is updating it, if any."""

    layer: Layer
    job: Job | None = None


class OpenOverlayRequest(CallerRequest):
    """Opens an overlay of uncommitted edits on a layer, or replaces the edits of an open one."""

    repo: RepoKey
    base_ref: RefOrNone = ""  # the layer below; empty for the base
    handle: RefOrNone = ""
    base_commit: CommitIdOrNone = ""  # the commit that was edited; if set, the layer below must serve it
    files: Annotated[tuple[FileEdit, ...], Field(max_length=EDIT_FILES_MAX)] = ()
    diff: EditDiff = ""
    ttl_s: Annotated[int, Field(ge=OVERLAY_TTL_MIN_S, le=OVERLAY_TTL_MAX_S)] = OVERLAY_TTL_DEFAULT_S


class CloseOverlayRequest(CallerRequest):
    """Deletes an overlay."""

    repo: RepoKey
    handle: Ref


CREATE_LAYER = Rpc(
    "ingest.create_layer", CreateLayerRequest, LayerReply, deadline_s=20, timeout=Timeout.IMPORT, writes=True
)
DELETE_LAYER = Rpc("ingest.delete_layer", DeleteLayerRequest, LayerReply, deadline_s=10)
OPEN_OVERLAY = Rpc(
    "ingest.open_overlay", OpenOverlayRequest, LayerReply, deadline_s=60, timeout=Timeout.IMPORT, writes=True
)
CLOSE_OVERLAY = Rpc("ingest.close_overlay", CloseOverlayRequest, LayerReply, deadline_s=10)
