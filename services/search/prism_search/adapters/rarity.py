"""Reads how rare words are in a corpus, and caches it per corpus version."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TypeVar

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_search.core.matching import Rarity
from prism_search.core.query import Query
from prism_search.core.retrieval.rank import rarity_of
from prism_search.core.words import stem
from prism_source.words import PART
from prism_store.reader import Reader, holds_text, without_status

KEPT_MAX = 50_000
ALL_CHUNKS = ""

Key = tuple[object, int, str]  # scope, corpus version, word
Value = TypeVar("Value")


class RarityCounter:
    """Counts words in the store once per corpus version."""

    def __init__(self, reader: Reader, repositories: RepositoryCatalog) -> None:
        self._reader = reader
        self._repositories = repositories
        self._counts: OrderedDict[Key, int] = OrderedDict()
        self._rarities: OrderedDict[Key, float] = OrderedDict()

    async def rarity(self, target: Target, query: Query) -> tuple[Rarity, Rarity]:
        """Returns the inverse document frequency of each stem of the question, twice.

        First over the chunks of the target's base, then over those of the whole tenant, as the store's BM25
        counts.
        """
        everything, base = self._repositories.everything(target), target.base
        words = _words(query)
        if everything.scope == base.scope:
            rarity = await self._overall(everything, words)
            return rarity, rarity
        return await asyncio.gather(self._within(base, words), self._overall(everything, words))

    async def absent(self, target: Target, words: Sequence[str]) -> list[str]:
        """Returns the words, in lower case and not stemmed, that no chunk of the target's base contains."""
        counts = await asyncio.gather(*(self._count(target.base, word) for word in words))
        return [word for word, count in zip(words, counts, strict=True) if not count]

    async def _overall(self, everything: Target, words: dict[str, str]) -> Rarity:
        scope, version = everything.scope, everything.corpus_version
        keys = {stem_: (scope, version, word) for stem_, word in words.items()}
        unknown = [key for key in keys.values() if key not in self._rarities]
        found = await self._reader.rarities(scope, [word for _, _, word in unknown])
        known = {key: self._rarities.get(key, 0.0) for key in keys.values()} | dict(
            zip(unknown, found, strict=True)
        )
        if not all(known.values()):
            documents = await self._count(everything, ALL_CHUNKS)
            unseen = rarity_of({ALL_CHUNKS: 0}, documents)[ALL_CHUNKS]
            known = {key: rarity or unseen for key, rarity in known.items()}
        _keep(self._rarities, {key: known[key] for key in unknown})
        return {stem_: known[key] for stem_, key in keys.items()}

    async def _within(self, target: Target, words: dict[str, str]) -> Rarity:
        documents, *counts = await asyncio.gather(
            *(self._count(target, word) for word in (ALL_CHUNKS, *words.values()))
        )
        return rarity_of(dict(zip(words, counts, strict=True)), documents)

    async def _count(self, target: Target, word: str) -> int:
        key = (target.scope, target.corpus_version, word)
        known = self._counts.get(key)
        if known is not None:
            return known
        # Only chunk points have the field.
        conditions = [holds_text("text", word)] if word else [without_status()]
        count = await self._reader.count(target.scope, conditions)
        _keep(self._counts, {key: count})
        return count


def _words(query: Query) -> dict[str, str]:
    """Returns the last word of the question with each stem, in lower case, by stem."""
    words = {stem(part.lower()): part.lower() for term in query.terms for part in PART.findall(term)}
    return {stem_: words[stem_] for stem_ in query.stems if stem_ in words}


def _keep(kept: OrderedDict[Key, Value], fresh: Mapping[Key, Value]) -> None:
    kept.update(fresh)
    while len(kept) > KEPT_MAX:
        kept.popitem(last=False)
