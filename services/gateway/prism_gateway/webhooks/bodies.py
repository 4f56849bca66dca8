"""The memory budget for webhooks whose sender is not authenticated yet.

A webhook carries no token, so its body must be read before its sender is known. Small and large bodies have
separate budgets: an attacker who fills the large one with slow uploads of 25 MiB leaves the small one to the
forges, whose pushes are small.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prism_contracts.errors import ErrorCode, PrismError

SMALL_BYTES_MAX = 1024 * 1024
RETRY_AFTER_S = 10


class BodyBudget:
    """Counts the bytes of unverified bodies in memory."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held = {True: 0, False: 0}  # key: whether the body is small

    @asynccontextmanager
    async def held(self, declared: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Read the whole body, and count it until the block ends. `declared` is its Content-Length, or empty.

        Raises PrismError UNAVAILABLE if the budget is used up: a forge redelivers the webhook, or a poll
        finds the push.
        """
        is_small = declared.isdigit() and int(declared) <= SMALL_BYTES_MAX
        parts: list[bytes] = []
        size = 0
        try:
            async for chunk in chunks:
                size += len(chunk)
                self._held[is_small] += len(chunk)
                if self._held[is_small] > self._bytes_max:
                    raise _spent()
                parts.append(chunk)
            yield b"".join(parts)
        finally:
            self._held[is_small] -= size


def _spent() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE,
        "Too many webhooks arrive at once.",
        "Redeliver the webhook in a few seconds.",
        retry_after_s=RETRY_AFTER_S,
    )
