"""Recent changes of each repository, in the object store: one object per repository, from its newest
snapshot.
"""

import zlib

from nats.js import JetStreamContext
from nats.js.api import ObjectStoreConfig
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.records import History, repository_key


class HistoryStore:
    """Histories by repository."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "HistoryStore":
        """Open the store, and create it if it does not exist."""
        config = ObjectStoreConfig(replicas=replicas)
        return cls(await js.create_object_store(names.OBJECTS_HISTORIES, config))

    async def put(self, tenant: str, repo: str, history: History) -> None:
        """Store the history of a repository, unless a newer one is stored."""
        known = await self.get(tenant, repo)
        if known is None or known.version <= history.version:
            key = repository_key(tenant, repo)
            await self._store.put(key, zlib.compress(history.model_dump_json().encode(), 1))

    async def get(self, tenant: str, repo: str) -> History | None:
        """Returns the history of a repository."""
        try:
            stored = await self._store.get(repository_key(tenant, repo))
        except ObjectNotFoundError:
            return None
        return History.model_validate_json(zlib.decompress(stored.data or b""))
