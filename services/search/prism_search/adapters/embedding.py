"""Query vectors, asked of the embedders. Without them a question is answered by the other legs."""

import asyncio
import logging
from typing import NamedTuple

from prism_contracts import names
from prism_contracts.errors import PrismError
from prism_contracts.records import COMPONENT_DEEP_MODEL, Component
from prism_contracts.rpc import EmbedQueryReply, EmbedQueryRequest
from prism_runtime import rpc
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords

FAST_LEG, DEEP_LEG = "vector", "deep"

log = logging.getLogger(__name__)


class QueryVectors(NamedTuple):
    """A question's vectors by tier, the deep model, and the legs that cannot be asked."""

    fast: tuple[float, ...] | None
    deep: tuple[float, ...] | None
    deep_model: str
    missing: tuple[str, ...]

    def without_deep(self) -> "QueryVectors":
        """The same where there are no deep vectors to ask."""
        return self._replace(deep=None, missing=tuple(dict.fromkeys((*self.missing, DEEP_LEG))))


class QueryEmbedding:
    """Asks each tier that runs."""

    def __init__(
        self, bus: Bus, components: WatchedRecords[Component], timeout_s: float, *, deep: bool
    ) -> None:
        self._bus = bus
        self._components = components
        self._timeout_s = timeout_s
        self._deep = deep

    def deep_model(self) -> str:
        """The deep model that runs; empty if none does, or if it is not asked."""
        model = self._components.get(COMPONENT_DEEP_MODEL) if self._deep else None
        return model.version if model else ""

    async def embed(self, text: str) -> QueryVectors:
        """The vectors of a question."""
        model = self.deep_model()
        fast, deep = await asyncio.gather(
            self._ask(names.RPC_EMBED_QUERY, text),
            self._ask(names.RPC_EMBED_DEEP_QUERY, text, model) if model else _nothing(),
        )
        missing = [leg for leg, vector in ((FAST_LEG, fast), (DEEP_LEG, deep)) if vector is None]
        return QueryVectors(fast, deep, model, tuple(leg for leg in missing if leg == FAST_LEG or model))

    async def _ask(self, subject: str, text: str, model: str = "") -> tuple[float, ...] | None:
        """The vector of a text; None if there is none in time, or if it is not of the model that is wanted."""
        request = EmbedQueryRequest(texts=(text,))
        try:
            reply = await rpc.call(self._bus, subject, request, EmbedQueryReply, timeout_s=self._timeout_s)
        except PrismError as error:
            log.warning("answering without a vector of %s: %s", subject, error)
            return None
        return reply.vectors[0] if model in {"", reply.model} else None


async def _nothing() -> None:
    return None
