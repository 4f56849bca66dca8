"""What search asks of the graph instead of reading files: who uses a symbol."""

import asyncio

from prism_atlas.core.answering import uses as answering
from prism_atlas.handlers.served import ServedGraphs
from prism_contracts.rpc.symbols import UsesReply, UsesRequest


class UsesHandler:
    """Answers `uses`."""

    def __init__(self, served: ServedGraphs) -> None:
        self._served = served

    async def uses(self, request: UsesRequest) -> UsesReply:
        """Who uses a symbol. Raises GRAPH_NOT_BUILT, and SYMBOL_NOT_FOUND if the graph has no definition at these places."""
        repo, graph, version, indexes = await self._served.bare(request)
        reply = await asyncio.to_thread(answering.uses, graph, repo, request)
        return reply.model_copy(update={"graph_version": version, "graph_indexes": indexes})
