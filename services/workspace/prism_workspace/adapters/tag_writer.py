"""Tags that a language model chooses. Scribe asks it, and counts what that costs the tenant."""

from collections.abc import Sequence

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.documents import TAGGED_CHARS_MAX, WRITE_TAGS, WriteTagsReply, WriteTagsRequest
from prism_runtime.bus import Bus

AWAY = frozenset({ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED})


class TagWriter:
    """A client of scribe."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def write(
        self, caller: CallerRequest, title: str, content: str, *, in_use: Sequence[str], model: str
    ) -> WriteTagsReply:
        """Returns what the model chose, or why it chose nothing. Raises PrismError: INVALID_ARGUMENT."""
        request = WriteTagsRequest(
            tenant=caller.tenant,
            title=title,
            text=content[:TAGGED_CHARS_MAX],
            in_use=tuple(in_use),
            model=model,
        )
        try:
            return await self._bus.ask(WRITE_TAGS, request, timeout_s=WRITE_TAGS.deadline_s + 1)
        except PrismError as error:
            if error.code in AWAY:
                return WriteTagsReply(without_model=str(error))
            raise
