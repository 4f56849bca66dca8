"""Query vectors, asked of the embedder. Without it a question is answered by the other legs."""

import logging

from prism_contracts import names
from prism_contracts.errors import PrismError
from prism_contracts.rpc import EmbedQueryReply, EmbedQueryRequest
from prism_runtime import rpc
from prism_runtime.bus import Bus

log = logging.getLogger(__name__)


async def embed_query(bus: Bus, text: str, timeout_s: float) -> EmbedQueryReply | None:
    """The vectors of a question, None if the embedder does not answer in time."""
    request = EmbedQueryRequest(texts=(text,))
    try:
        return await rpc.call(bus, names.RPC_EMBED_QUERY, request, EmbedQueryReply, timeout_s=timeout_s)
    except PrismError as error:
        log.warning("answering without vectors: %s", error)
        return None
