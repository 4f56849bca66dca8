"""Documents in memory, by tenant, with what the index lacks of them: what lists, searches and the projection read.

It is a projection of the bucket of documents, which each copy of workspace follows. A question costs no look at
the documents of other tenants, and a tenant that nothing happens to costs nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet

from prism_contracts.records import DocumentRecord, document_key


class _Shelf:
    """The documents of one tenant, by key."""

    def __init__(self) -> None:
        self.records: dict[str, DocumentRecord] = {}
        self.removed: set[str] = set()
        self.unindexed: set[str] = set()
        self.drafts: set[str] = set()
        self.commits: Counter[str] = Counter()
        self.tagged: defaultdict[str, set[str]] = defaultdict(set)  # by tag, in lower case

    def put(self, key: str, record: DocumentRecord) -> None:
        self.remove(key)
        self.records[key] = record
        self.commits[record.commit] += 1
        for keys, is_in in (
            (self.removed, record.is_removed),
            (self.unindexed, not record.is_indexed),
            (self.drafts, record.is_draft),
        ):
            if is_in:
                keys.add(key)
        for tag in record.tags:
            self.tagged[tag.casefold()].add(key)

    def remove(self, key: str) -> None:
        found = self.records.pop(key, None)
        if found is None:
            return
        self.commits[found.commit] -= 1
        if not self.commits[found.commit]:
            del self.commits[found.commit]
        for keys in (self.removed, self.unindexed, self.drafts):
            keys.discard(key)
        for tag in {tag.casefold() for tag in found.tags}:
            self.tagged[tag].discard(key)
            if not self.tagged[tag]:
                del self.tagged[tag]

    def with_tags(self, tags: Iterable[str]) -> list[DocumentRecord]:
        """Returns the documents with all of these tags, in any case, that are not gone."""
        keys = set.intersection(*(self.tagged.get(tag.casefold(), set()) for tag in tags)) - self.removed
        return [self.records[key] for key in keys]


class DocumentTable:
    """The documents of all tenants, those that are gone and not forgotten included."""

    def __init__(self) -> None:
        self._tenants: dict[str, _Shelf] = {}
        self._tenant_of: dict[str, str] = {}

    def put(self, key: str, record: DocumentRecord) -> None:
        """Take a new or changed document."""
        self._tenants.setdefault(record.tenant, _Shelf()).put(key, record)
        self._tenant_of[key] = record.tenant

    def remove(self, key: str) -> None:
        """Forget a document, known or not."""
        tenant = self._tenant_of.pop(key, None)
        if tenant is not None:
            self._tenants[tenant].remove(key)
            if not self._tenants[tenant].records:
                del self._tenants[tenant]

    def tenants(self) -> list[str]:
        """Returns the tenants that have documents."""
        return list(self._tenants)

    def has(self, tenant: str) -> bool:
        """Whether a tenant has documents."""
        return tenant in self._tenants

    def find(self, tenant: str, document: str) -> DocumentRecord | None:
        """Returns a document, also one that is gone."""
        shelf = self._tenants.get(tenant)
        return shelf.records.get(document_key(tenant, document)) if shelf else None

    def of(self, tenant: str, tags: Collection[str] = ()) -> list[DocumentRecord]:
        """Returns the documents of a tenant with all of these tags, in any case, that are not gone."""
        shelf = self._tenants.get(tenant)
        if shelf is None:
            return []
        if tags:
            return shelf.with_tags(tags)
        if not shelf.removed:
            return list(shelf.records.values())
        return [one for key, one in shelf.records.items() if key not in shelf.removed]

    def unindexed(self, tenant: str) -> list[DocumentRecord]:
        """Returns what the index lacks of a tenant, or has and should not."""
        shelf = self._tenants.get(tenant)
        return [shelf.records[key] for key in shelf.unindexed] if shelf else []

    def has_drafts(self, tenant: str) -> bool:
        """Whether a document of a tenant has a content that no commit holds."""
        shelf = self._tenants.get(tenant)
        return shelf is not None and bool(shelf.drafts)

    def commits(self, tenant: str) -> AbstractSet[str]:
        """Returns the commits that the documents of a tenant name, as they are now. Not to be kept."""
        shelf = self._tenants.get(tenant)
        return shelf.commits.keys() if shelf else frozenset()
