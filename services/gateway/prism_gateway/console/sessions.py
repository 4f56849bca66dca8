"""Sessions of the console, and one-time codes for sign-in: records in NATS, so that any copy knows them.

The key of a record is the SHA-256 of a cookie or a code. The record names the token that signed in by its
digest, or the person whom an identity provider signed on. Nothing in it opens Prism.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Final

from prism_contracts import names
from prism_contracts.records import Session, SignedOn
from prism_contracts.token_secrets import digest_of
from prism_gateway.callers import Caller
from prism_gateway.signon.door import SignOn
from prism_gateway.tokens import TokenBook
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket, opened

SESSION_S: Final = names.SESSIONS_MAX_AGE_S
IDLE: Final = timedelta(hours=2)
CODE: Final = timedelta(seconds=60)
# A session that is used is written this often at most.
SEEN_EVERY: Final = timedelta(minutes=1)
SECRET_BYTES: Final = 32
SECRET_CHARS_MAX: Final = 64


class Sessions:
    """Who is signed in."""

    def __init__(self, tokens: TokenBook, sign_on: SignOn, *, person_s: int) -> None:
        """`person_s`: seconds for which a person stays signed in whom an identity provider signed on."""
        self._tokens = tokens
        self._sign_on = sign_on
        self._person = timedelta(seconds=person_s)
        self._bucket: Records[Session] | None = None

    async def open(self, bus: Bus, *, replicas: int) -> None:
        """Open the bucket."""
        kv = await open_bucket(bus.js, names.KV_SESSIONS, ttl_s=SESSION_S, replicas=replicas)
        self._bucket = Records(kv, Session)

    async def begin(self, digest: str) -> str:
        """Begin a session of the token with this digest. Returns the secret for its cookie."""
        return await self._store(timedelta(seconds=SESSION_S), token=digest)

    async def begin_for(self, person: SignedOn) -> str:
        """Begin a session of a person whom an identity provider signed on. Returns the secret for its cookie."""
        return await self._store(self._person, person=person)

    async def issue_code(self, digest: str) -> str:
        """Returns a code that begins one session of the token, within a minute."""
        return await self._store(CODE, token=digest, is_code=True)

    async def redeem(self, code: str) -> str | None:
        """Begin the session of a code. Returns the secret for its cookie; None if the code is used or too old."""
        if not _is_secret(code):
            return None
        now = datetime.now(UTC)
        found = await self._records().delete_if(digest_of(code), lambda one: one.is_code)
        if found is None or found.token is None or found.ends_at <= now:
            return None
        return await self.begin(found.token) if await self._tokens.holder_of(found.token) else None

    async def caller(self, cookie: str) -> Caller | None:
        """Returns who is signed in with a cookie.

        None if the session is over, or if its token is revoked or expired. Raises UNAVAILABLE.
        """
        if not _is_secret(cookie):
            return None
        key, now = digest_of(cookie), datetime.now(UTC)
        session = await self._records().get(key)
        if session is None or session.is_code or _is_over(session, now):
            return None
        caller = await self._holder(session)
        if caller and now - session.seen_at >= SEEN_EVERY:
            await self._records().change(key, lambda one: one.model_copy(update={"seen_at": now}))
        return caller

    async def end(self, cookie: str) -> None:
        """End a session."""
        if _is_secret(cookie):
            await self._records().delete(digest_of(cookie))

    async def _holder(self, session: Session) -> Caller | None:
        if session.person:
            return await self._sign_on.person(session.person, session.ends_at)
        return await self._tokens.holder_of(session.token) if session.token else None

    async def _store(
        self,
        lasts: timedelta,
        *,
        token: str | None = None,
        person: SignedOn | None = None,
        is_code: bool = False,
    ) -> str:
        secret, now = secrets.token_urlsafe(SECRET_BYTES), datetime.now(UTC)
        session = Session(
            token=token, person=person, made_at=now, seen_at=now, ends_at=now + lasts, is_code=is_code
        )
        await self._records().put(digest_of(secret), session)
        return secret

    def _records(self) -> Records[Session]:
        return opened(self._bucket, "The gateway")


def _is_secret(text: str) -> bool:
    return 0 < len(text) <= SECRET_CHARS_MAX


def _is_over(session: Session, now: datetime) -> bool:
    return session.ends_at <= now or session.seen_at + IDLE <= now
