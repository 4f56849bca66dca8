"""References from the graph, for search, which would otherwise have to read the files."""

import asyncio

from prism_atlas.core.answering import uses as answering
from prism_atlas.operations.served_graphs import ServedGraphs
from prism_contracts.rpc.symbols import UsesReply, UsesRequest


class UsesHandler:
    """Answers `uses`."""

    def __init__(self, served: ServedGraphs) -> None:
        self._served = served

    async def uses(self, request: UsesRequest) -> UsesReply:
        """Returns the references to a symbol.

        Raises GRAPH_NOT_BUILT; SYMBOL_NOT_FOUND if the graph has no definition at these places.
        """
        repo, graph, version, indexes = await self._served.bare(request)
        reply = await asyncio.to_thread(answering.uses, graph, repo, request)
        return reply.model_copy(update={"graph_version": version, "graph_indexes": indexes})
