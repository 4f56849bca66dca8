"""A context round by round, for MCP and REST: whoever stops asking ends it after the round that is running."""

from collections.abc import AsyncIterator

from prism_contracts.rpc.context import CONTEXT, ContextReply, ContextRequest
from prism_gateway.backend import Backend


async def rounds_of(backend: Backend, request: ContextRequest) -> AsyncIterator[ContextReply]:
    """Yields the context after each of its rounds; the last one is the answer.

    A request repeats the rounds of the one before, whose searches are cached. So each round is reported as it
    was the first time. One that ran out of time is finished by the next request.
    """
    reported: ContextReply | None = None
    for rounds in range(1, request.rounds + 1):
        found = await backend.ask(CONTEXT, request.model_copy(update={"rounds": rounds}))
        reported = _reported_once(reported, found) if reported else found
        yield reported
        if found.is_complete:
            return


def _reported_once(before: ContextReply, now: ContextReply) -> ContextReply:
    return now.model_copy(
        update={
            "rounds": (*before.rounds, *now.rounds[len(before.rounds) :]),
            "timings_ms": {**now.timings_ms, **before.timings_ms},
            "receipt": now.receipt.model_copy(
                update={"cached": before.receipt.cached and now.receipt.cached}
            ),
        }
    )
