"""SCIP indexes that clients upload."""

from prism_contracts.rpc.imports import LeftOutDocument, StoreScipReply, StoreScipRequest
from prism_ingest.operations.scip_imports import ScipImports


class ScipHandlers:
    """Answers `store_scip`."""

    def __init__(self, imports: ScipImports) -> None:
        self._imports = imports

    async def store(self, request: StoreScipRequest) -> StoreScipReply:
        """Store an index.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_PATH, SCIP_INVALID, PAYLOAD_TOO_LARGE.
        """
        repository, record, taken, is_stored = await self._imports.store(request)
        return StoreScipReply(
            repo=repository.name,
            commit=record.commit,
            indexer=record.indexer,
            stored=is_stored,
            documents=taken.documents,
            files=record.files,
            definitions=len(taken.columns.site_line),
            uses=len(taken.columns.use_line),
            implementations=len(taken.columns.implementation_line),
            left_out={reason.value: count for reason, count in taken.left_out.items()},
            examples=tuple(LeftOutDocument(path=path, reason=reason) for path, reason in taken.examples),
            unreadable=taken.unreadable,
        )
