"""Remotes of documents: which one each tenant has, and how far pushes to it have come."""

from collections.abc import Callable

from prism_contracts import names
from prism_contracts.records import DocumentRemote, document_remote_key
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket


class Remotes:
    """The remotes of all tenants."""

    def __init__(self, records: Records[DocumentRemote], watched: WatchedRecords[DocumentRemote]) -> None:
        self._records = records
        self._watched = watched

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "Remotes":
        """Open the bucket, and follow it."""
        bucket = await open_bucket(bus.js, names.KV_DOCUMENT_REMOTES, replicas=replicas)
        watched = await bus.follow(names.KV_DOCUMENT_REMOTES, DocumentRemote)
        return cls(Records(bucket, DocumentRemote), watched)

    async def get(self, tenant: str) -> DocumentRemote | None:
        """Returns the remote of a tenant as it is now, or None."""
        return await self._records.get(document_remote_key(tenant))

    async def put(
        self, tenant: str, change: Callable[[DocumentRemote | None], DocumentRemote]
    ) -> DocumentRemote:
        """Replace the remote by `change(remote)`, which must be pure."""
        return await self._records.modify(document_remote_key(tenant), change)

    async def change(
        self, tenant: str, change: Callable[[DocumentRemote], DocumentRemote]
    ) -> DocumentRemote | None:
        """Replace the remote by `change(remote)`, which must be pure. Returns None if there is none."""
        return await self._records.change(document_remote_key(tenant), change)

    async def remove(self, tenant: str) -> DocumentRemote | None:
        """Forget the remote. Returns it, or None if there was none."""
        return await self._records.delete_if(document_remote_key(tenant), lambda _: True)

    def known(self) -> list[DocumentRemote]:
        """Returns the remotes that this copy knows of; the newest may be missing."""
        return list(self._watched.values())
