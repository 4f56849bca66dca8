"""The ends of imports."""

from prism_contracts.events import RepoIndexed
from prism_ingest.operations.rebase import Rebaser


class RebaseHandlers:
    """Receives ends of imports, after which layers may be behind their base."""

    def __init__(self, rebaser: Rebaser) -> None:
        self._rebaser = rebaser

    async def on_indexed(self, event: RepoIndexed) -> None:
        """An import has ended."""
        await self._rebaser.follow(event.tenant, event.repo, event.layer, event.job)
