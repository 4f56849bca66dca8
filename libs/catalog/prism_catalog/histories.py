"""Recent changes of files: ingest stores one object per repository, and services that answer read it."""

import zlib
from collections.abc import Mapping
from typing import NamedTuple

from nats.js import JetStreamContext
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_catalog.target import Target
from prism_contracts import names
from prism_contracts.records import History, HistoryFile, repository_key
from prism_contracts.rpc.guidance import RecentChanges
from prism_runtime.objects import open_objects
from prism_runtime.weighted_cache import WeightedCache

FILES_KEPT_MAX = 200_000
SHALLOW = "the repository is a shallow clone: older commits are unknown"
CUT = "the newest commits only"


class HistoryStore:
    """Histories by repository."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "HistoryStore":
        """Open the store, and create it if it does not exist."""
        return cls(await open_objects(js, names.OBJECTS_HISTORIES, replicas=replicas))

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


class _Read(NamedTuple):
    version: int  # the repository's next version at the time of the read
    history: History
    files: Mapping[str, HistoryFile]


class Histories:
    """Returns the recent changes of files, and caches the histories of repositories."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self._cache: WeightedCache[tuple[str, str], _Read] = WeightedCache(FILES_KEPT_MAX)

    async def changes(self, target: Target, path: str) -> RecentChanges | None:
        """Returns the recent changes of a file, for a target of one repository; None if none are known."""
        history, files = await self._read(target)
        file = files.get(path)
        if file is None:
            return None
        limits = (SHALLOW if history.is_shallow else "", CUT if history.is_cut else "")
        return RecentChanges(
            commits_90_days=file.commits_90_days,
            commits_12_months=file.commits_12_months,
            last=history.commits[file.last],
            note="; ".join(filter(None, limits)),
        )

    async def _read(self, target: Target) -> tuple[History, Mapping[str, HistoryFile]]:
        repository = target.repositories[0]
        key = (repository.tenant, repository.repo)
        known = self._cache.get(key)
        if known is None or known.version != repository.next_version:
            history = await self._store.get(*key) or History()
            files = {file.path: file for file in history.files}
            known = _Read(repository.next_version, history, files)
            if target.is_quiet:  # during an import, ingest may still store a newer history
                self._cache.put(key, known, 1 + len(files))
        return known.history, known.files
