"""How much of strangers' webhooks the gateway holds in memory at a time.

A webhook carries no token, so its body is read before anybody knows who sent it. Small bodies and large ones have a budget
each: whoever fills the one with slow uploads of 25 MiB leaves the other to the forges, whose pushes are small.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prism_contracts.errors import ErrorCode, PrismError

SMALL_BYTES_MAX = 1024 * 1024
RETRY_AFTER_S = 10


class BodyBudget:
    """Counts the bytes of unsigned bodies that are in memory."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held = {True: 0, False: 0}  # by whether the body is small

    @asynccontextmanager
    async def held(self, declared: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The whole body, counted until the block ends. `declared` is its Content-Length, empty if it has none.

        Raises PrismError UNAVAILABLE when the budget is spent: a forge delivers the webhook again, or a poll finds the push.
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
        "Deliver the webhook again in a few seconds.",
        retry_after_s=RETRY_AFTER_S,
    )
