"""Dead letters, as their tenant manages them."""

from prism_contracts.rpc.dead_letters import DropLetterRequest, LetterReply, RetryLetterRequest
from prism_ingest.operations.letters import Letters


class LetterHandlers:
    """Answers `retry_letter` and `drop_letter`."""

    def __init__(self, letters: Letters) -> None:
        self._letters = letters

    async def retry(self, request: RetryLetterRequest) -> LetterReply:
        """Publish the event of a letter again, or read its repository again.

        Raises LETTER_NOT_FOUND, LETTER_NOT_RETRIABLE, SNAPSHOT_CONFLICT.
        """
        return await self._letters.retry(request)

    async def drop(self, request: DropLetterRequest) -> LetterReply:
        """Delete a letter. Raises LETTER_NOT_FOUND."""
        return await self._letters.drop(request)
