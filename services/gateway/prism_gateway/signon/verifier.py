"""Admits access tokens of the configured issuers. Remembers a verified one for a minute, by its SHA-256."""

import hashlib
import logging
import time
from collections.abc import Callable, Iterable
from typing import Final

from prism_gateway.callers import Caller
from prism_gateway.signon.access_tokens import InvalidToken, read_caller, read_head
from prism_gateway.signon.issuers import Issuer
from prism_gateway.signon.keys import Fetch, KeyBook

REMEMBERED_S_MAX: Final = 60.0
REMEMBERED_MAX: Final = 10_000

log = logging.getLogger(__name__)


class Verifier:
    """The issuers and their keys."""

    def __init__(
        self,
        issuers: Iterable[Issuer],
        fetch: Fetch,
        *,
        scope_prefix: str,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._books = {issuer.issuer: (issuer, KeyBook(issuer, fetch, clock)) for issuer in issuers}
        self._scope_prefix = scope_prefix
        self._now = now
        # By the digest of a token: until when it is remembered, and its caller. Oldest first.
        self._remembered: dict[bytes, tuple[float, Caller]] = {}

    async def caller(self, token: str) -> Caller | None:
        """Returns the caller of a valid token, None for others. Raises UNAVAILABLE if keys cannot be had."""
        now = self._now()
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        until, remembered = self._remembered.get(digest, (0.0, None))
        if remembered and now < until:
            return remembered
        self._remembered.pop(digest, None)
        try:
            caller = await self._verified(token, now)
        except InvalidToken as reason:
            log.info("a token was refused: %s", reason)
            return None
        self._remember(digest, caller, now)
        return caller

    async def close(self) -> None:
        """End fetches in progress."""
        for _, book in self._books.values():
            await book.close()

    async def _verified(self, token: str, now: float) -> Caller:
        head = read_head(token)
        if head.issuer not in self._books:
            raise InvalidToken("its issuer is not configured")
        issuer, book = self._books[head.issuer]
        key = await book.key(head.key_id, head.algorithm)
        return read_caller(token, head, key, issuer, scope_prefix=self._scope_prefix, now=now)

    def _remember(self, digest: bytes, caller: Caller, now: float) -> None:
        assert caller.expires_at is not None
        until = min(now + REMEMBERED_S_MAX, caller.expires_at.timestamp())
        if until <= now:  # expired, within the leeway
            return
        if len(self._remembered) >= REMEMBERED_MAX:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[digest] = (until, caller)
