"""How rare words are in a corpus: document frequencies counted by the store and kept for a corpus version."""

import asyncio
from collections import OrderedDict

from prism_search.adapters.repositories import Repositories, Target
from prism_search.core.matching import Rarity
from prism_search.core.query import Query
from prism_search.core.ranking import rarity_of
from prism_search.core.words import PART, stem
from prism_store.reader import Reader, holds_text, without_status

KEPT_MAX = 50_000
ALL_CHUNKS = ""


class RarityCounter:
    """Counts once, remembers by corpus version."""

    def __init__(self, reader: Reader, repositories: Repositories) -> None:
        self._reader = reader
        self._repositories = repositories
        self._known: OrderedDict[tuple[object, int, str], int] = OrderedDict()

    async def rarity(self, target: Target, query: Query) -> tuple[Rarity, Rarity]:
        """Inverse document frequency of each stem of the question, over the chunks of the target and over those of the
        whole tenant, which is what the store's BM25 counts over.
        """
        everything = self._repositories.everything(target)
        # Over the whole tenant the index's own reckoning is right, as the scope excludes nothing, and takes no time.
        overall = self._over(everything, query, exact=False)
        if everything.scope == target.scope:
            rarity = await overall
            return rarity, rarity
        return await asyncio.gather(self._over(target, query, exact=True), overall)

    async def _over(self, target: Target, query: Query, *, exact: bool) -> Rarity:
        words = {stem(part.lower()): part for term in query.terms for part in PART.findall(term)}
        stems = [s for s in query.stems if s in words]
        documents, *counts = await asyncio.gather(
            *(self._count(target, word, exact=exact) for word in (ALL_CHUNKS, *(words[s] for s in stems)))
        )
        return rarity_of(dict(zip(stems, counts, strict=True)), documents)

    async def _count(self, target: Target, word: str, *, exact: bool) -> int:
        key = (target.scope, target.corpus_version, word.lower())
        known = self._known.get(key)
        if known is not None:
            return known
        # Chunk points alone have the field.
        conditions = [holds_text("text", word)] if word else [without_status()]
        count = await self._reader.count(target.scope, conditions, exact=exact)
        self._known[key] = count
        if len(self._known) > KEPT_MAX:
            self._known.popitem(last=False)
        return count
