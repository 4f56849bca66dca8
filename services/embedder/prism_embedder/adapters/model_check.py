"""The check of `/readyz` that the model embeds a text."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.core.rows import Matrix

TEXT = "Is the model ready?"


class EmbedsQueries(Protocol):
    """A model of either tier."""

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Returns one vector per text. Blocks."""


class ModelCheck:
    """Asks the model, once it is loaded."""

    def __init__(self) -> None:
        self.model: EmbedsQueries | None = None
        self._asking: asyncio.Task[Matrix] | None = None

    async def check(self) -> None:
        """Raise unless the model is loaded and embeds a text."""
        if self.model is None:
            raise PrismError(ErrorCode.UNAVAILABLE, "The model is not loaded yet.", "Wait, or read the log.")
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(asyncio.to_thread(self.model.embed_queries, [TEXT]))
        # A caller that gives up leaves the thread running: a model that hangs occupies one thread, and not one per check.
        await asyncio.shield(self._asking)
