"""Imports after which anchors may be out of date, and questions about a place."""

from prism_contracts.base import BASE_LAYER
from prism_contracts.events import RepoIndexed
from prism_contracts.rpc.anchors import ConcerningReply, ConcerningRequest
from prism_workspace.operations.anchors import Anchors


class AnchorHandlers:
    """Receives ended imports, and answers `concerning`."""

    def __init__(self, anchors: Anchors) -> None:
        self._anchors = anchors

    async def on_indexed(self, event: RepoIndexed) -> None:
        """Check the anchors to the repository. Branches and overlays do not make documents stale."""
        if event.layer == BASE_LAYER:
            await self._anchors.check(event.tenant, event.repo)

    async def concerning(self, request: ConcerningRequest) -> ConcerningReply:
        """Returns the documents and open tasks that name a place."""
        return self._anchors.concerning(request)
