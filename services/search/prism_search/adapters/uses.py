"""Who uses a symbol, by the graph that atlas has of a repository."""

import logging
from typing import TypeVar

from prism_contracts import names
from prism_contracts.base import Message
from prism_contracts.errors import PrismError
from prism_contracts.rpc import ImpactReply, ImpactRequest, UsesReply, UsesRequest
from prism_runtime.bus import Bus
from prism_runtime.rpc import call

# What is known without the graph takes longer than this for names of many files only.
TIMEOUT_S = 1.0

log = logging.getLogger(__name__)

Answer = TypeVar("Answer", bound=Message)


class GraphUses:
    """Asks atlas."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of(self, request: UsesRequest) -> UsesReply | None:
        """None if there is no answer: the graph is being built, or atlas is away. Files tell the same then."""
        return await self._ask(names.RPC_USES, request, UsesReply)

    async def impact(self, request: ImpactRequest) -> ImpactReply | None:
        """Who uses a symbol over several uses in a row. None as above, and if the graph does not have the symbol."""
        return await self._ask(names.RPC_IMPACT, request, ImpactReply)

    async def _ask(self, subject: str, request: Message, answer: type[Answer]) -> Answer | None:
        try:
            return await call(self._bus, subject, request, answer, timeout_s=TIMEOUT_S)
        except PrismError as error:
            log.debug("the graph does not answer on %s: %s", subject, error)
            return None
