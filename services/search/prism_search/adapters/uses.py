"""Requests the uses of a symbol from the graph in atlas."""

import logging
from typing import TypeVar

from prism_contracts.base import Message
from prism_contracts.errors import PrismError
from prism_contracts.registry import Rpc
from prism_contracts.rpc.graph import IMPACT, ImpactReply, ImpactRequest
from prism_contracts.rpc.symbols import USES, UsesReply, UsesRequest
from prism_runtime.bus import Bus

# Reading the files instead takes longer than this only for names that many files contain.
TIMEOUT_S = 1.0

log = logging.getLogger(__name__)

Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)


class GraphUses:
    """Requests to atlas. Callers read the files themselves when there is no reply."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of(self, request: UsesRequest) -> UsesReply | None:
        """Returns the uses of symbols, or None if atlas is down, still builds the graph, or replies with an error."""
        return await self._ask(USES, request)

    async def impact(self, request: ImpactRequest) -> ImpactReply | None:
        """Returns transitive uses of a symbol; None as above, or if the graph does not have the symbol."""
        return await self._ask(IMPACT, request)

    async def _ask(self, rpc: Rpc[Request, Answer], request: Request) -> Answer | None:
        try:
            return await self._bus.ask(rpc, request, timeout_s=TIMEOUT_S)
        except PrismError as error:
            log.debug("the graph does not answer %s: %s", rpc.name, error)
            return None
