"""Answers `write_tags`."""

from prism_contracts.rpc.documents import WriteTagsReply, WriteTagsRequest
from prism_scribe.operations.tagging import Tagging


class TagHandler:
    """Answers requests for tags by a language model."""

    def __init__(self, tagging: Tagging) -> None:
        self._tagging = tagging

    async def write(self, request: WriteTagsRequest) -> WriteTagsReply:
        """Return tags, or why no model chose any. Raises PrismError: INVALID_ARGUMENT."""
        return await self._tagging.write(request)
