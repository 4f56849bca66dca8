"""Wikis in NATS: a record for each repository, and an object for each page."""

import uuid
from collections.abc import Callable, Collection

from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.records import WikiRecord, record_key, wiki_key
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_scribe.core.wiki.progress import objects_of

HASH_CHARS = 16


class WikiStore:
    """The wikis of all repositories."""

    def __init__(self, records: Records[WikiRecord], objects: ObjectStore) -> None:
        self._records = records
        self._objects = objects

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "WikiStore":
        """Open the buckets."""
        bucket = await open_bucket(bus.js, names.KV_WIKI, replicas=replicas)
        return cls(Records(bucket, WikiRecord), await bus.objects(names.OBJECTS_WIKI))

    async def get(self, tenant: str, repo: str) -> WikiRecord | None:
        """Returns the record of a wiki, as stored now."""
        return await self._records.get(wiki_key(tenant, repo))

    async def modify(
        self, tenant: str, repo: str, change: Callable[[WikiRecord | None], WikiRecord]
    ) -> WikiRecord:
        """Replace the record of a wiki, by compare-and-set. What `change` raises stops it."""
        return await self._records.modify(wiki_key(tenant, repo), change)

    async def put_page(self, record: WikiRecord, key: str, source_hash: str, page: str) -> str:
        """Store a page. Returns the name of its object, which no other call uses.

        Two processes may write the same page. Each deletes only what its own write replaced.
        """
        name = ".".join(
            (record_key(record.tenant, record.repo, key), source_hash[:HASH_CHARS], uuid.uuid4().hex[:8])
        )
        await self._objects.put(name, page.encode())
        return name

    async def page(self, name: str) -> str | None:
        """Returns the text of an object; None if it is deleted."""
        try:
            stored = await self._objects.get(name)
        except ObjectNotFoundError:
            return None
        return (stored.data or b"").decode()

    async def drop_page(self, name: str) -> None:
        """Delete the object of a page. One that is left over is deleted by `reclaim_regularly`."""
        try:
            await self._objects.delete(name)
        except ObjectNotFoundError:
            return

    async def named_objects(self) -> Collection[str]:
        """Returns the objects that records name."""
        pages = [page for record in await self._records.all() for page in record.pages.values()]
        return {name for page in pages for name in objects_of(page)}
