"""SCIP indexes that clients upload."""

from prism_contracts.records import ScipIndex
from prism_contracts.rpc.imports import (
    LeftOutDocument,
    ListScipReply,
    ListScipRequest,
    RemoveScipReply,
    RemoveScipRequest,
    ScipIndexEntry,
    StoreScipReply,
    StoreScipRequest,
)
from prism_ingest.operations.scip_imports import ScipImports


class ScipHandlers:
    """Stores, lists and removes SCIP indexes."""

    def __init__(self, imports: ScipImports) -> None:
        self._imports = imports

    async def store(self, request: StoreScipRequest) -> StoreScipReply:
        """Store an index.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_PATH, SCIP_INVALID, PAYLOAD_TOO_LARGE.
        """
        repository, record, content, is_stored = await self._imports.store(request)
        return StoreScipReply(
            repo=repository.name,
            commit=record.commit,
            indexer=record.indexer,
            stored=is_stored,
            documents=content.documents,
            files=record.files,
            definitions=len(content.columns.site_line),
            uses=len(content.columns.use_line),
            implementations=len(content.columns.implementation_line),
            left_out={reason.value: count for reason, count in content.left_out.items()},
            examples=tuple(LeftOutDocument(path=path, reason=reason) for path, reason in content.examples),
            unreadable=content.unreadable,
        )

    async def indexes(self, request: ListScipRequest) -> ListScipReply:
        """List the indexes of a repository. Raises REPO_NOT_FOUND."""
        repository, indexes = await self._imports.of(request)
        return ListScipReply(repo=repository.name, indexes=tuple(map(_entry, indexes)))

    async def remove(self, request: RemoveScipRequest) -> RemoveScipReply:
        """Remove an index. Raises REPO_NOT_FOUND, SCIP_NOT_FOUND."""
        repository, index = await self._imports.remove(request)
        return RemoveScipReply(repo=repository.name, removed=_entry(index))


def _entry(index: ScipIndex) -> ScipIndexEntry:
    return ScipIndexEntry(
        indexer=index.indexer,
        root=index.root,
        commit=index.commit,
        files=index.files,
        stored_at=index.stored_at,
    )
