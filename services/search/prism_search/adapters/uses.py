"""Who uses a symbol, by the graph that atlas has of a repository."""

import logging

from prism_contracts import names
from prism_contracts.errors import PrismError
from prism_contracts.rpc import UsesReply, UsesRequest
from prism_runtime.bus import Bus
from prism_runtime.rpc import call

# What is known without the graph takes longer than this for names of many files only.
TIMEOUT_S = 1.0

log = logging.getLogger(__name__)


class GraphUses:
    """Asks atlas."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of(self, request: UsesRequest) -> UsesReply | None:
        """None if there is no answer: the graph is being built, or atlas is away. Files tell the same then."""
        try:
            return await call(self._bus, names.RPC_USES, request, UsesReply, timeout_s=TIMEOUT_S)
        except PrismError as error:
            log.debug("the graph does not tell who uses %s: %s", request.name, error)
            return None
