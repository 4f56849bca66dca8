"""Overlays of uncommitted edits."""

from prism_contracts.rpc.layers import CloseOverlayRequest, LayerReply, OpenOverlayRequest
from prism_ingest.core import without_bits
from prism_ingest.operations.overlays import Overlays


class OverlayHandlers:
    """Answers `open_overlay` and `close_overlay`."""

    def __init__(self, overlays: Overlays) -> None:
        self._overlays = overlays

    async def open(self, request: OpenOverlayRequest) -> LayerReply:
        """Open an overlay, or replace its edits. Replies when their events are stored.

        Raises PrismError: REPO_NOT_FOUND, REF_NOT_FOUND, BASE_MISMATCH, INVALID_PATH, INVALID_ARGUMENT,
        DIFF_NOT_APPLICABLE, PAYLOAD_TOO_LARGE, LIMIT_EXCEEDED.
        """
        layer, job = await self._overlays.open(request)
        return LayerReply(layer=layer, job=without_bits(job))

    async def close(self, request: CloseOverlayRequest) -> LayerReply:
        """Delete an overlay. Raises REPO_NOT_FOUND, REF_NOT_FOUND."""
        return LayerReply(layer=await self._overlays.close(request))
