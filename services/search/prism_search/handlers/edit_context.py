"""Answers `edit_context`: what to know before a symbol is changed."""

from prism_contracts.rpc.guidance import EditContextReply, EditContextRequest
from prism_search.operations.edit_context import EditContextBuilder


class EditContextHandler:
    """Answers `edit_context`."""

    def __init__(self, contexts: EditContextBuilder) -> None:
        self._contexts = contexts

    async def edit_context(self, request: EditContextRequest) -> EditContextReply:
        """Raises SYMBOL_NOT_FOUND with near names, FILE_NOT_FOUND, INVALID_ARGUMENT."""
        return await self._contexts.build(request)
