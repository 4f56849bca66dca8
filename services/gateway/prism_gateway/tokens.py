"""Developer tokens: secrets `prism_…`, of which Prism stores only the SHA-256, as the key of a record.

Lookups compare digests, never secrets, so their timing reveals nothing about a secret. Tokens are never
logged.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from nats.errors import Error as NatsError
from pydantic import ValidationError

from prism_catalog.tenants import LAPTOP, Tenants
from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import Token
from prism_contracts.token_secrets import PREFIX, digest_of, is_mistyped, new_secret, token_id
from prism_gateway.callers import Caller
from prism_gateway.scopes import EVERYTHING
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket, opened
from prism_runtime.tasks import running

TOKEN_CHARS_MAX = 512
TOKENS_OF_TENANT_MAX = 1_000  # revoked ones included
ENDED_KEPT_DAYS = 30
# How often the last uses are stored. They are known to the minute.
USES_STORED_EVERY_S = 15.0
LOOKUP_TIMEOUT_S = 2.0
UNCONFIRMED_S_MAX = 15.0
BOOTSTRAP_LABEL = "bootstrap"
# What the first token could do before there were more scopes.
BOOTSTRAP_SCOPES_ONCE = ("read", "write")

log = logging.getLogger(__name__)


class KnownToken(NamedTuple):
    """A token with its public id."""

    id: str
    token: Token


class TokenBook:
    """The tokens of all tenants.

    An in-memory copy follows the bucket, so a revocation takes effect at once.
    """

    def __init__(self, tenants: Tenants, *, unconfirmed_s_max: float = UNCONFIRMED_S_MAX) -> None:
        """`unconfirmed_s_max`: for how long tokens are accepted while NATS cannot say whether one is revoked."""
        self._tenants = tenants
        self._unconfirmed_s_max = unconfirmed_s_max
        self._bucket: Records[Token] | None = None
        self._watched: WatchedRecords[Token] | None = None
        self._uses: dict[str, datetime] = {}  # digest -> minute of the last use that is not stored yet

    async def open(self, bus: Bus, *, replicas: int) -> None:
        """Start following the bucket, after the tenants. Returns once the copy is complete."""
        self._bucket = Records(await open_bucket(bus.js, names.KV_TOKENS, replicas=replicas), Token)
        self._watched = await bus.follow(names.KV_TOKENS, Token, is_close=True)
        await self._tenants.adopt({token.tenant for token in self._watched.values()})

    async def check(self) -> None:
        """Raise unless the bucket is readable."""
        await self._records().get("0" * 64)

    async def bootstrap(self, digest: str, tenant: str) -> None:
        """Store the first token and its tenant.

        An existing record is left unchanged, even if it is revoked; it gets the scopes that were added since.
        """
        first = Token(
            tenant=tenant, label=BOOTSTRAP_LABEL, created_at=datetime.now(UTC), scopes=tuple(EVERYTHING)
        )
        token = await self._records().modify(digest.lower(), lambda known: _upgraded(known) or first)
        await self._tenants.ensure(token.tenant, LAPTOP)

    async def find(self, secret: str) -> Caller | None:
        """Returns the caller with this token.

        None if it is unknown, revoked or expired, or if its tenant is inactive. Raises UNAVAILABLE if it may
        be revoked for all that is known.
        """
        if not secret.startswith(PREFIX) or len(secret) > TOKEN_CHARS_MAX:
            return None
        return await self._find(digest_of(secret), may_be_new=not is_mistyped(secret))

    async def holder_of(self, digest: str) -> Caller | None:
        """Returns the caller with the token of this digest, as `find` does."""
        return await self._find(digest, may_be_new=True)

    async def _find(self, digest: str, *, may_be_new: bool) -> Caller | None:
        records = self._records()
        # The copy may lag behind: an unknown token may be new.
        token = self._watched.get(digest) if self._watched else None
        if token is None and may_be_new:
            token = await _read(records, digest)
        now = datetime.now(UTC)
        if token is None or not token.is_valid(now) or not self._tenants.is_active(token.tenant):
            return None
        self._check_confirmed()
        self._note_use(digest, token, now)
        return _caller(digest, token)

    def _check_confirmed(self) -> None:
        assert self._watched is not None
        if self._watched.unconfirmed_s > self._unconfirmed_s_max:
            raise _unchecked()

    async def of_tenant(self, tenant: str) -> list[KnownToken]:
        """Returns the tokens of a tenant, revoked ones included, the newest first."""
        found = [KnownToken(token_id(digest), token) for digest, token in await self._of_tenant(tenant)]
        return sorted(found, key=lambda known: known.token.created_at, reverse=True)

    async def create(self, token: Token) -> tuple[str, KnownToken]:
        """Store a new token. Returns its secret, which is nowhere else, and the token."""
        known = await self._of_tenant(token.tenant)
        kept = len(known) - await self._forget_old(known)
        if kept >= TOKENS_OF_TENANT_MAX:
            raise PrismError(
                ErrorCode.FORBIDDEN,
                f"The tenant has {kept} tokens, which is the most.",
                f"Create fewer. A revoked or expired token counts for {ENDED_KEPT_DAYS} more days.",
                limit=TOKENS_OF_TENANT_MAX,
            )
        secret = new_secret()
        digest = digest_of(secret)
        await self._records().put(digest, token)
        return secret, KnownToken(token_id(digest), token)

    async def revoke(self, tenant: str, token: str) -> Token | None:
        """Revoke a token by its id. Returns it, or None if the tenant has none with this id.

        It stays revoked since the first time.
        """
        now = datetime.now(UTC)
        for digest, _ in await self._of_tenant(tenant):
            if token_id(digest) == token:
                return await self._records().change(digest, lambda found: _revoked(found, now))
        return None

    @asynccontextmanager
    async def storing_uses(self) -> AsyncIterator[None]:
        """Store the last uses of tokens during a block, off the path of requests."""
        async with running(self._store_uses()):
            yield

    async def store_uses(self) -> None:
        """Store the last uses that are not stored yet."""
        uses, self._uses = self._uses, {}
        for digest, minute in uses.items():
            await self._records().change(digest, partial(_used, at=minute))

    async def _store_uses(self) -> None:
        while True:
            await asyncio.sleep(USES_STORED_EVERY_S)
            try:
                await self.store_uses()
            except (PrismError, NatsError, TimeoutError, ValidationError) as error:
                log.warning("the last uses of tokens are not stored: %s", reason_of(error))

    def _note_use(self, digest: str, token: Token, now: datetime) -> None:
        minute = now.replace(second=0, microsecond=0)
        if token.last_used_at is None or token.last_used_at < minute:
            self._uses[digest] = minute

    async def _of_tenant(self, tenant: str) -> list[tuple[str, Token]]:
        """Returns the tokens of a tenant by digest, as of now."""
        self._records()
        assert self._watched is not None
        await self._watched.require_current("tokens")
        return [(digest, token) for digest, token in self._watched.items() if token.tenant == tenant]

    async def _forget_old(self, known: Iterable[tuple[str, Token]]) -> int:
        """Delete what ended long ago. Returns how many."""
        before = datetime.now(UTC) - timedelta(days=ENDED_KEPT_DAYS)
        old = [digest for digest, token in known if _ended_before(token, before)]
        for digest in old:
            await self._records().delete(digest)
        return len(old)

    def _records(self) -> Records[Token]:
        return opened(self._bucket, "The gateway")


def _caller(digest: str, token: Token) -> Caller:
    return Caller(
        tenant=token.tenant,
        scopes=frozenset(token.scopes),
        id=f"token:{token_id(digest)}",
        label=token.label,
        repos=token.repos,
        expires_at=token.expires_at,
    )


def _revoked(token: Token, now: datetime) -> Token:
    return token if token.revoked_at else token.model_copy(update={"revoked_at": now})


def _used(token: Token, at: datetime) -> Token:
    is_known = token.last_used_at is not None and token.last_used_at >= at
    return token if is_known else token.model_copy(update={"last_used_at": at})


def _ended_before(token: Token, moment: datetime) -> bool:
    """Whether a token ended before a moment. A first token stays, or the next start would store it again."""
    ended = [at for at in (token.revoked_at, token.expires_at) if at]
    return bool(token.created_by and ended and min(ended) < moment)


def _upgraded(first: Token | None) -> Token | None:
    if first and first.label == BOOTSTRAP_LABEL and first.scopes == BOOTSTRAP_SCOPES_ONCE:
        return first.model_copy(update={"scopes": tuple(EVERYTHING)})
    return first


async def _read(records: Records[Token], digest: str) -> Token | None:
    try:
        async with asyncio.timeout(LOOKUP_TIMEOUT_S):
            return await records.get(digest)
    except ValidationError as error:
        log.error("cannot read the record of a token: %s", error)  # noqa: TRY400 - the text says it all
        return None
    except (NatsError, TimeoutError) as error:
        raise _unchecked() from error


def _unchecked() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE,
        "The token cannot be checked: NATS is not reachable.",
        "Retry in a few seconds.",
    )
