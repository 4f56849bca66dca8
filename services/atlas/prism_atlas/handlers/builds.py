"""Events after which a graph is out of date."""

from prism_atlas.operations.base_graphs import BaseGraphs
from prism_contracts.base import BASE_LAYER
from prism_contracts.events import RepoIndexed, ScipRemoved, ScipStored


class BuildHandlers:
    """Receives ended imports, and SCIP indexes that are new or removed."""

    def __init__(self, base_graphs: BaseGraphs) -> None:
        self._base_graphs = base_graphs

    async def on_indexed(self, event: RepoIndexed) -> None:
        """Build the graph of a base import. Graphs of layers are built on demand."""
        if event.layer == BASE_LAYER:
            await self._base_graphs.build_import(event)

    async def on_scip_stored(self, event: ScipStored) -> None:
        """Rebuild the served graph with the new index."""
        await self._base_graphs.rebuild(event)

    async def on_scip_removed(self, event: ScipRemoved) -> None:
        """Rebuild the served graph without the index."""
        await self._base_graphs.rebuild(event)
