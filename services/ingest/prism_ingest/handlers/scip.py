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
