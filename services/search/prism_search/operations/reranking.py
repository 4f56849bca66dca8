"""Lets a reranker order the best passages. Where it does not answer, they keep the order of their signals."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.rpc.search import RERANKER, SearchRequest
from prism_search.adapters.reranker import Reranker
from prism_search.core.hit_pages import HitPage
from prism_search.core.reranking import RERANK_STEP, document_of, in_order
from prism_search.core.retrieval.assemble import Passage
from prism_search.core.retrieval.context import SearchContext
from prism_search.operations.retrieval import Retrieval


class Reranked(NamedTuple):
    """Passages, best first, and the reranker as a missing leg if it should have ordered them."""

    passages: list[Passage]
    missing: tuple[str, ...] = ()


class Reranking:
    """Orders the best passages with a reranker, if there is one."""

    def __init__(self, retrieval: Retrieval, reranker: Reranker | None) -> None:
        self._retrieval = retrieval
        self._reranker = reranker

    def passages_max(self, request: SearchRequest, page: HitPage) -> int:
        """Returns how many passages a page needs: its own, one more for its cursor, and the candidates."""
        reranker = self._asked_for(request, page)
        return max(page.end + 1, reranker.candidates if reranker else 0)

    async def reorder(self, context: SearchContext, page: HitPage, passages: list[Passage]) -> Reranked:
        """Returns the passages with the candidates first, as the reranker orders them.

        A search that is repeated because files changed has the timeout once, for all of its attempts.
        """
        reranker = self._asked_for(context.request, page)
        if reranker is None or len(passages) <= 1:
            return Reranked(passages)
        if not reranker.is_asked():
            return Reranked(passages, (RERANKER,))
        spent_s = context.steps.milliseconds.get(RERANK_STEP, 0.0) / 1000
        deadline = asyncio.get_running_loop().time() + reranker.timeout_s - spent_s
        with context.steps.step(RERANK_STEP):
            order = await self._order(reranker, context, passages[: reranker.candidates], deadline)
        return Reranked(in_order(passages, order)) if order else Reranked(passages, (RERANKER,))

    def _asked_for(self, request: SearchRequest, page: HitPage) -> Reranker | None:
        """Returns the reranker if it orders this page.

        Explained signals add up to the order, so it is kept. Pages after the candidates have only passages that
        no reranker orders.
        """
        reranker = self._reranker
        return reranker if reranker and not request.explain and page.begin < reranker.candidates else None

    async def _order(
        self, reranker: Reranker, context: SearchContext, passages: Sequence[Passage], deadline: float
    ) -> list[int] | None:
        try:
            async with asyncio.timeout_at(deadline):
                texts = await self._retrieval.contents(context.target, passages)
        except TimeoutError:
            return None  # the store was slow, which is no failure of the reranker
        documents = [document_of(passage, text) for passage, text in zip(passages, texts, strict=True)]
        return await reranker.order(context.query.text, documents, deadline)
