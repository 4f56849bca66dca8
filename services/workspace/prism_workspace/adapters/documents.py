"""Records of documents: compare-and-set in a key-value bucket, and a copy in memory for lists."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import DocumentRecord, document_key
from prism_runtime.bus import Bus
from prism_runtime.records import FollowedBucket, Records, open_bucket
from prism_workspace.adapters.document_table import DocumentTable

Change = Callable[[DocumentRecord], DocumentRecord]
# A change takes two messages to NATS and back. Others are answered between them.
CHANGED_AT_ONCE = 64


class DocumentRecords:
    """The documents of all tenants."""

    def __init__(
        self, records: Records[DocumentRecord], followed: FollowedBucket[DocumentRecord, DocumentTable]
    ) -> None:
        self._records = records
        self._followed = followed

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "DocumentRecords":
        """Open the bucket, and follow it."""
        bucket = await open_bucket(bus.js, names.KV_DOCUMENTS, replicas=replicas)
        followed = await bus.project(names.KV_DOCUMENTS, DocumentRecord, DocumentTable)
        return cls(Records(bucket, DocumentRecord), followed)

    async def get(self, tenant: str, document: str) -> DocumentRecord | None:
        """Returns a document as it is now, or None."""
        found = await self._records.get(document_key(tenant, document))
        return None if found is None or found.is_removed else found

    async def create(self, record: DocumentRecord) -> bool:
        """Store a new document. Returns False, and changes nothing, if one with its id exists."""
        is_new = False

        def change(found: DocumentRecord | None) -> DocumentRecord:
            nonlocal is_new
            is_new = found is None or found.is_removed
            return revived(found, record) if is_new else found or record

        await self._records.modify(record.key, change)
        return is_new

    async def take(
        self, record: DocumentRecord, change: Callable[[DocumentRecord | None], DocumentRecord]
    ) -> None:
        """Replace the document with the id of a record by `change(document)`, which must be pure."""

        def changed(found: DocumentRecord | None) -> DocumentRecord:
            return revived(found, change(None if found is None or found.is_removed else found))

        await self._records.modify(record.key, changed)

    async def forget(self, tenant: str, document: str) -> None:
        """Delete the record of a document that is gone, once the index has noted it."""
        await self._records.delete_if(
            document_key(tenant, document), lambda found: found.is_removed and found.is_indexed
        )

    async def change(self, tenant: str, document: str, change: Change) -> DocumentRecord:
        """Replace a document by `change(document)`, which must be pure. Raises DOCUMENT_NOT_FOUND."""
        changed = await self._records.change(document_key(tenant, document), change)
        if changed is None:
            raise not_found(document)
        return changed

    async def change_many(self, tenant: str, changes: Mapping[str, Change]) -> None:
        """Replace documents, by id, as `change` does. Some at a time, so that a call that ends early has done some."""
        waiting = iter(changes.items())
        while some := list(islice(waiting, CHANGED_AT_ONCE)):
            await asyncio.gather(*(self.change(tenant, document, change) for document, change in some))

    async def require_current(self) -> None:
        """Wait until this copy knows all that was written before. Raises UNAVAILABLE if NATS does not answer."""
        await self._followed.require_current("documents")

    async def all_of(self, tenant: str, tags: Collection[str] = ()) -> list[DocumentRecord]:
        """Returns the documents of a tenant with all of these tags, all that were written before this call.

        Raises UNAVAILABLE if NATS does not answer.
        """
        await self.require_current()
        return self._followed.projection.of(tenant, tags)

    def known_one(self, tenant: str, document: str) -> DocumentRecord | None:
        """Returns a document that this copy knows of."""
        found = self._followed.projection.find(tenant, document)
        return None if found is None or found.is_removed else found

    def has_known(self, tenant: str) -> bool:
        """Whether this copy knows of a document of a tenant, or of one that is gone."""
        return self._followed.projection.has(tenant)

    def known_of(self, tenant: str) -> list[DocumentRecord]:
        """Returns the documents of a tenant that this copy knows of; the newest may be missing."""
        return self._followed.projection.of(tenant)

    def known_tenants(self) -> list[str]:
        """Returns the tenants with documents that this copy knows of."""
        return self._followed.projection.tenants()

    def known_unindexed(self, tenant: str) -> list[DocumentRecord]:
        """Returns the documents whose newest content the index lacks, and those that are gone and that it has."""
        return self._followed.projection.unindexed(tenant)

    def has_known_drafts(self, tenant: str) -> bool:
        """Whether this copy knows of a draft of a tenant."""
        return self._followed.projection.has_drafts(tenant)

    def known_commits(self, tenant: str) -> AbstractSet[str]:
        """Returns the commits that the documents of a tenant name at this moment. Not to be kept."""
        return self._followed.projection.commits(tenant)


def revived(found: DocumentRecord | None, record: DocumentRecord) -> DocumentRecord:
    """Returns a new record with what the index has of a removed document at its path."""
    if found is None or not found.is_removed:
        return record
    return record.model_copy(update={"indexed_blob": found.indexed_blob, "version": found.version + 1})


def not_found(document: str) -> PrismError:
    """Returns the error for an id or a path that no document has."""
    return PrismError(
        ErrorCode.DOCUMENT_NOT_FOUND,
        f"No document has the id or path {shown(document)}.",
        "List the documents with list_documents, or find one with search_documents.",
    )
