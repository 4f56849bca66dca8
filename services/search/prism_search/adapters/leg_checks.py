"""Checks of the legs without which search still answers, for `/readyz`."""

from collections.abc import Mapping

from prism_runtime.health import Check, cached
from prism_search.adapters.embedding import QueryEmbedding
from prism_search.core.retrieval.plan import DEEP_LEG, FAST_LEG

# The deep model embeds a text each time.
CHECKED_EVERY_S = 15.0


class LegChecks:
    """The legs of vectors. They are checked once search is assembled."""

    def __init__(self) -> None:
        self.embedding: QueryEmbedding | None = None

    @property
    def checks(self) -> Mapping[str, Check]:
        """The checks by leg."""
        return {FAST_LEG: self._fast, DEEP_LEG: cached(self._deep, CHECKED_EVERY_S)}

    async def _fast(self) -> None:
        if self.embedding:
            self.embedding.check_fast()

    async def _deep(self) -> None:
        if self.embedding:
            await self.embedding.check_deep()
