"""Records of documents: compare-and-set in a key-value bucket, and a copy in memory for lists."""

from collections.abc import Callable

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import DocumentRecord, document_key
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket


class DocumentRecords:
    """The documents of all tenants."""

    def __init__(self, records: Records[DocumentRecord], watched: WatchedRecords[DocumentRecord]) -> None:
        self._records = records
        self._watched = watched

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "DocumentRecords":
        """Open the bucket, and follow it."""
        bucket = await open_bucket(bus.js, names.KV_DOCUMENTS, replicas=replicas)
        return cls(Records(bucket, DocumentRecord), await bus.follow(names.KV_DOCUMENTS, DocumentRecord))

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

    async def change(
        self, tenant: str, document: str, change: Callable[[DocumentRecord], DocumentRecord]
    ) -> DocumentRecord:
        """Replace a document by `change(document)`, which must be pure. Raises DOCUMENT_NOT_FOUND."""
        changed = await self._records.change(document_key(tenant, document), change)
        if changed is None:
            raise not_found(document)
        return changed

    async def all_of(self, tenant: str) -> list[DocumentRecord]:
        """Returns the documents of a tenant, all that were written before this call.

        Raises UNAVAILABLE if NATS does not answer.
        """
        await self._watched.require_current("documents")
        return self.known_of(tenant)

    def known_of(self, tenant: str) -> list[DocumentRecord]:
        """Returns the documents of a tenant that this copy knows of; the newest may be missing."""
        return [one for one in self._watched.values() if one.tenant == tenant and not one.is_removed]

    async def all_and_removed(self, tenant: str) -> list[DocumentRecord]:
        """Returns the documents of a tenant as `all_of` does, and those that the index may have and no one else."""
        await self._watched.require_current("documents")
        return [one for one in self._watched.values() if one.tenant == tenant]

    def known_one(self, tenant: str, document: str) -> DocumentRecord | None:
        """Returns a document that this copy knows of."""
        found = self._watched.get(document_key(tenant, document))
        return None if found is None or found.is_removed else found

    def known(self) -> list[DocumentRecord]:
        """Returns the documents of all tenants that this copy knows of, removed ones too; the newest may be missing."""
        return self._watched.values()


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
