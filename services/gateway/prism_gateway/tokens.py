"""Developer tokens: secrets `prism_…`, of which Prism stores only the SHA-256, as the key of a record.

Lookups compare digests, never secrets, so their timing reveals nothing about a secret. Tokens are never
logged.
"""

import asyncio
import hashlib
import logging
from datetime import UTC, datetime

from nats.errors import Error as NatsError
from pydantic import ValidationError

from prism_catalog.tenants import LAPTOP, Tenants
from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Token
from prism_gateway.callers import Caller
from prism_gateway.scopes import EVERYTHING
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket

TOKEN_PREFIX = "prism_"  # noqa: S105 - a prefix, not a secret
TOKEN_CHARS_MAX = 512
ID_CHARS = 12
LOOKUP_TIMEOUT_S = 2.0
BOOTSTRAP_LABEL = "bootstrap"
# What the first token could do before there were more scopes.
BOOTSTRAP_SCOPES_ONCE = ("read", "write")

log = logging.getLogger(__name__)


class TokenBook:
    """The tokens of all tenants.

    An in-memory copy follows the bucket, so a revocation takes effect at once.
    """

    def __init__(self, tenants: Tenants) -> None:
        self._tenants = tenants
        self._bucket: Records[Token] | None = None
        self._watched: WatchedRecords[Token] | None = None

    async def open(self, bus: Bus, *, replicas: int) -> None:
        """Start following the bucket. Returns once the copy is complete."""
        self._bucket = Records(await open_bucket(bus.js, names.KV_TOKENS, replicas=replicas), Token)
        self._watched = await bus.follow(names.KV_TOKENS, Token)

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

        None if it is unknown, revoked or expired, or if its tenant is inactive.
        """
        if not secret.startswith(TOKEN_PREFIX) or len(secret) > TOKEN_CHARS_MAX:
            return None
        digest = hashlib.sha256(secret.encode()).hexdigest()
        records = self._records()
        # The copy may lag behind: an unknown token may be new.
        token = (self._watched and self._watched.get(digest)) or await _read(records, digest)
        if token is None or not token.is_valid(datetime.now(UTC)):
            return None
        return _caller(digest, token) if self._tenants.is_active(token.tenant) else None

    def _records(self) -> Records[Token]:
        if self._bucket is None:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The gateway is not connected to NATS yet.",
                "Retry in a few seconds.",
            )
        return self._bucket


def token_id(digest: str) -> str:
    """Returns the id of a token, which is public: the beginning of its digest."""
    return digest[:ID_CHARS]


def _caller(digest: str, token: Token) -> Caller:
    return Caller(
        tenant=token.tenant,
        scopes=frozenset(token.scopes),
        id=f"token:{token_id(digest)}",
        label=token.label,
        repos=token.repos,
        expires_at=token.expires_at,
    )


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
        raise PrismError(
            ErrorCode.UNAVAILABLE,
            "The token cannot be checked: NATS is not reachable.",
            "Retry in a few seconds.",
        ) from error
