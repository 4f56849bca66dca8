"""Embeds questions: with the fast model in this process, with a deep model by a request to its embedder.

Without a vector, the other legs answer the question.
"""

import logging
from typing import Protocol

from prism_contracts.errors import PrismError
from prism_contracts.records import DEEP_MODEL_KEY, FAST_MODEL_KEY, ModelVersion
from prism_contracts.rpc.search import EMBED_DEEP_QUERY, EmbedQueryRequest
from prism_model.static_model import Matrix
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords

Vector = tuple[float, ...]

log = logging.getLogger(__name__)


class QueryModel(Protocol):
    """The interface of the fast model."""

    fingerprint: str

    def embed_queries(self, texts: list[str]) -> Matrix:
        """Returns unit vectors, one row per text; zeros for a text without a known word."""
        ...


class QueryEmbedding:
    """Embeds questions with each tier that runs."""

    def __init__(
        self,
        model: QueryModel,
        bus: Bus,
        model_versions: WatchedRecords[ModelVersion],
        deep_timeout_s: float,
        *,
        deep: bool,
    ) -> None:
        self._model = model
        self._bus = bus
        self._model_versions = model_versions
        self._deep_timeout_s = deep_timeout_s
        self._deep = deep

    def deep_model(self) -> str:
        """Returns the deep model that runs; empty if none does, or if deep search is disabled."""
        model = self._model_versions.get(DEEP_MODEL_KEY) if self._deep else None
        return model.version if model else ""

    def fast(self, text: str) -> Vector | None:
        """Returns the vector of the fast model; None if the index was built with another model."""
        indexing = self._model_versions.get(FAST_MODEL_KEY)
        if indexing and indexing.version != self._model.fingerprint:
            log.warning(
                "answering without vectors: the index has model %s, this process has %s",
                indexing.version,
                self._model.fingerprint,
            )
            return None
        return tuple(self._model.embed_queries([text])[0].tolist())

    async def deep(self, text: str) -> Vector | None:
        """Returns the vector of the deep model; None if it does not arrive in time."""
        request, model = EmbedQueryRequest(texts=(text,)), self.deep_model()
        try:
            reply = await self._bus.ask(EMBED_DEEP_QUERY, request, timeout_s=self._deep_timeout_s)
        except PrismError as error:
            log.warning("answering without a deep vector: %s", error)
            return None
        return reply.vectors[0] if reply.model == model else None
