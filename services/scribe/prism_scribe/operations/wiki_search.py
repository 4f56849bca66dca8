"""Searches one wiki. Its pages are read from the store once for each state of the wiki."""

import asyncio
from collections import OrderedDict

from prism_contracts.records import WikiRecord
from prism_scribe.adapters.wiki_store import WikiStore
from prism_scribe.core.wiki.search import SectionHit, WikiIndex

# Texts of the indexes that are kept, over all tenants. An index is about five times as large as its texts.
KEPT_CHARS_MAX = 8_000_000
READ_AT_ONCE = 8


class WikiSearch:
    """The indexes of the wikis that were searched last."""

    def __init__(self, store: WikiStore) -> None:
        self._store = store
        self._slots = asyncio.Semaphore(READ_AT_ONCE)
        self._indexes: OrderedDict[tuple[str, ...], WikiIndex] = OrderedDict()

    async def search(self, record: WikiRecord, query: str, limit: int) -> list[SectionHit]:
        """Returns the best sections of the written pages, best first."""
        index = await self._index(record)
        return await asyncio.to_thread(index.search, query, limit)

    async def _index(self, record: WikiRecord) -> WikiIndex:
        # An object has one text for ever, and its name has the tenant and the repository.
        state = tuple(page.object for page in record.pages.values())
        found = self._indexes.pop(state, None)
        if found is None:
            written = [entry.key for entry in record.toc if entry.key in record.pages]
            texts = await asyncio.gather(*(self._text(record, key) for key in written))
            pages = {key: text for key, text in zip(written, texts, strict=True) if text}
            found = await asyncio.to_thread(WikiIndex, pages)
        self._keep(state, found)
        return found

    def _keep(self, state: tuple[str, ...], index: WikiIndex) -> None:
        self._indexes[state] = index
        while (
            sum(kept.size_chars for kept in self._indexes.values()) > KEPT_CHARS_MAX
            and len(self._indexes) > 1
        ):
            self._indexes.popitem(last=False)

    async def _text(self, record: WikiRecord, key: str) -> str:
        async with self._slots:
            return await self._store.page(record.pages[key].object) or ""
