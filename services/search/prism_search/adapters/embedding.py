"""Embeds questions: with the fast model in this process, with a deep model by a request to its embedder.

Without a vector, the other legs answer the question.
"""

import logging
from typing import Protocol

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DEEP_MODEL_KEY, FAST_MODEL_KEY, ModelVersion
from prism_contracts.rpc.search import EMBED_DEEP_QUERY, EmbedQueryRequest
from prism_model.static_model import Matrix
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords
from prism_search.adapters.metrics import QueryEmbeddingMetrics

Vector = tuple[float, ...]

# Shorter than a readiness check may take.
CHECK_TIMEOUT_S = 1.0
CHECK_TEXT = "Is the model ready?"

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
        metrics: QueryEmbeddingMetrics,
    ) -> None:
        self._model = model
        self._bus = bus
        self._model_versions = model_versions
        self._deep_timeout_s = deep_timeout_s
        self._deep = deep
        self._metrics = metrics

    def deep_model(self) -> str:
        """Returns the deep model that runs; empty if none does, or if deep search is disabled."""
        model = self._model_versions.get(DEEP_MODEL_KEY) if self._deep else None
        return model.version if model else ""

    def fast(self, text: str) -> Vector | None:
        """Returns the vector of the fast model; None if the index was built with another model."""
        if mismatch := self._mismatch():
            log.warning("answering without vectors: %s", mismatch)
            return None
        with self._metrics.fast.time():
            return tuple(self._model.embed_queries([text])[0].tolist())

    def check_fast(self) -> None:
        """Raise MODEL_MISMATCH if questions get no vector of the fast model."""
        if mismatch := self._mismatch():
            raise PrismError(ErrorCode.MODEL_MISMATCH, mismatch, "Start search with the model of the index.")

    async def check_deep(self) -> None:
        """Raise if a deep model embeds files, and questions get no vector of it."""
        model = self.deep_model()
        if not model:
            return
        request = EmbedQueryRequest(texts=(CHECK_TEXT,))
        reply = await self._bus.ask(EMBED_DEEP_QUERY, request, timeout_s=CHECK_TIMEOUT_S)
        if reply.model != model:
            raise PrismError(
                ErrorCode.MODEL_MISMATCH,
                f"the index has deep model {model}, its embedder has {reply.model}",
                "Wait until the embedder of the newer model has started.",
            )

    def _mismatch(self) -> str:
        """Returns why the fast model cannot be used; empty if it can."""
        indexing = self._model_versions.get(FAST_MODEL_KEY)
        if not indexing or indexing.version == self._model.fingerprint:
            return ""
        return f"the index has model {indexing.version}, this process has {self._model.fingerprint}"

    async def deep(self, text: str) -> Vector | None:
        """Returns the vector of the deep model; None if it does not arrive in time."""
        request, model = EmbedQueryRequest(texts=(text,)), self.deep_model()
        try:
            with self._metrics.deep.time():
                reply = await self._bus.ask(EMBED_DEEP_QUERY, request, timeout_s=self._deep_timeout_s)
        except PrismError as error:
            log.warning("answering without a deep vector: %s", error)
            return None
        return reply.vectors[0] if reply.model == model else None
