"""Brings the index up to one document, and says what it holds of it."""

import time
from collections.abc import Callable

from prism_contracts.base import repo_id
from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.documents import (
    EmbeddingState,
    GenerateEmbeddingsReply,
    GenerateEmbeddingsRequest,
)
from prism_contracts.rpc.files import ManifestEntry
from prism_workspace.adapters.places import Places
from prism_workspace.operations.documents import TeamDocuments
from prism_workspace.operations.projection import IndexProjection


class DocumentEmbeddings:
    """The vectors of documents, which the pipeline of all files makes."""

    def __init__(
        self,
        documents: TeamDocuments,
        projection: IndexProjection,
        places: Places,
        repo: str,
        model: Callable[[], str],
        *,
        settle_s: float,
    ) -> None:
        """`repo`: the name of the repository of documents. `model` returns the fingerprint of the running model.

        `settle_s`: how long a call waits for the index, in seconds.
        """
        self._documents = documents
        self._projection = projection
        self._places = places
        self._repo = repo_id(repo)
        self._model = model
        self._settle_s = settle_s

    async def generate(self, request: GenerateEmbeddingsRequest) -> GenerateEmbeddingsReply:
        """Wait until the index holds the newest content. With `force_regenerate`, it is indexed again before.

        Raises PrismError: DOCUMENT_NOT_FOUND, EMBEDDING_FAILED, UNAVAILABLE.
        """
        began = time.monotonic()
        record = await self._documents.find(request, request.document_id, "")
        if request.force_regenerate:
            await self._projection.send_again(record)
        is_settled, entry = await self._settled(record)
        if is_settled and entry is None:  # somebody removed the repository after the last import
            await self._projection.send_again(record)
            _, entry = await self._settled(record)
        state = _state_of(entry)
        is_indexed = state is EmbeddingState.INDEXED
        return GenerateEmbeddingsReply(
            document_id=record.document,
            embeddings_created=is_indexed,
            chunks_processed=entry.chunks if entry else 0,
            model_used=self._model() if is_indexed else "",
            processing_time_ms=round((time.monotonic() - began) * 1_000),
            state=state,
            reason=entry.reason if entry else "",
        )

    async def _settled(self, record: DocumentRecord) -> tuple[bool, ManifestEntry | None]:
        """Returns whether the document was imported in time, and what the index then holds of it."""
        if not await self._projection.wait(record, self._settle_s):
            return False, None
        found = await self._places.entries(record.tenant, self._repo, [record.path])
        return True, found.get(record.path)


def _state_of(entry: ManifestEntry | None) -> EmbeddingState:
    if entry is None:
        return EmbeddingState.PENDING
    if entry.status == FileStatus.FAILED:
        raise PrismError(
            ErrorCode.EMBEDDING_FAILED,
            f"{entry.path} could not be indexed: {entry.reason}.",
            "Try again with force_regenerate. If that fails, too, shorten or divide the document.",
        )
    return EmbeddingState.INDEXED if entry.status == FileStatus.INDEXED else EmbeddingState.SKIPPED
