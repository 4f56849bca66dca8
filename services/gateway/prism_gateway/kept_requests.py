"""Requests with an `Idempotency-Key`, and their answers, over all copies of the gateway.

A request is recorded before it is handled. While it is in progress, its repetition is refused; afterwards its
repetition gets the same answer. A request that fails is forgotten, so that its repetition is handled.

Answers are encrypted with a key that derives from the caller's token, because one may hold a secret:
AES-256-GCM, with the record's key as associated data (https://csrc.nist.gov/pubs/sp/800/38/d/final).
"""

import hashlib
import hmac
import logging
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from nats.errors import Error as NatsError

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import KeptRequest
from prism_runtime.bus import Bus
from prism_runtime.records import Records, opened

# Longer than any request takes: then whoever handled it has died.
IN_PROGRESS_S_MAX = 330.0
RETRY_AFTER_S = 2
# A larger answer is not kept, and its request is handled again.
ANSWER_BYTES_MAX = 256 * 1024
NONCE_BYTES = 12
ATTEMPT_BYTES = 12

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeyedRequest:
    """A request with an `Idempotency-Key`."""

    caller: str  # id of the caller
    key: str
    token: str  # the caller's token, which is never stored
    content: tuple[bytes, ...]  # method, path, query, repository and body: what makes it another request

    @property
    def record_key(self) -> str:
        """Key in the bucket. Callers never share one."""
        return hashlib.sha256(f"{self.caller}\0{self.key}".encode()).hexdigest()

    @property
    def digest(self) -> str:
        """Identifies what is requested."""
        digest = hashlib.sha256()
        for part in self.content:
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()

    def seal(self, body: bytes) -> bytes:
        """Returns an answer, encrypted."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher().encrypt(nonce, body, self.record_key.encode())

    def unseal(self, sealed: bytes) -> bytes:
        """Returns an answer, decrypted. Raises IDEMPOTENCY_CONFLICT if another token was used."""
        try:
            return self._cipher().decrypt(
                sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], self.record_key.encode()
            )
        except InvalidTag:
            raise PrismError(
                ErrorCode.IDEMPOTENCY_CONFLICT,
                "The request with this Idempotency-Key succeeded with another access token.",
                "Look at what it made, or use another key.",
            ) from None

    def _cipher(self) -> AESGCM:
        return AESGCM(hmac.digest(self.token.encode(), b"prism kept answer", hashlib.sha256))


@dataclass(frozen=True)
class KeptResponse:
    """The answer of an earlier request."""

    status: int
    body: bytes


class KeptRequests:
    """The requests of all callers."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._bucket: Records[KeptRequest] | None = None

    async def open(self, *, replicas: int) -> None:
        """Open the bucket, and create it if it does not exist."""
        bucket = await self._bus.cache(
            names.KV_REQUESTS,
            ttl_s=names.REQUESTS_MAX_AGE_S,
            bytes_max=names.REQUESTS_MAX_BYTES,
            replicas=replicas,
        )
        self._bucket = Records(bucket, KeptRequest)

    async def begin(self, request: KeyedRequest) -> "Attempt | KeptResponse":
        """Record that a request is being handled, or return its answer.

        Raises IDEMPOTENCY_CONFLICT if the key was used for another request, REQUEST_IN_PROGRESS, DISK_FULL,
        and UNAVAILABLE.
        """
        self._bus.room.check()
        now = datetime.now(UTC)
        mine = KeptRequest(request=request.digest, attempt=secrets.token_hex(ATTEMPT_BYTES), began_at=now)
        records = self._records()
        try:
            found = await records.modify(
                request.record_key, lambda known: mine if known is None or _is_dead(known, now) else known
            )
        except (NatsError, TimeoutError) as error:
            raise PrismError(
                ErrorCode.UNAVAILABLE, "The Idempotency-Key cannot be looked up.", "Retry in a few seconds."
            ) from error
        if found.attempt == mine.attempt:
            return Attempt(records, request, mine)
        if found.request != mine.request:
            raise PrismError(
                ErrorCode.IDEMPOTENCY_CONFLICT,
                "The Idempotency-Key was used for another request.",
                "Use a new key for each request, and repeat it only with the same body.",
            )
        if not found.status:
            raise PrismError(
                ErrorCode.REQUEST_IN_PROGRESS,
                "The request with this Idempotency-Key is in progress.",
                "Repeat it in a few seconds.",
                retry_after_s=RETRY_AFTER_S,
            )
        return KeptResponse(found.status, request.unseal(found.sealed))

    def _records(self) -> Records[KeptRequest]:
        return opened(self._bucket, "The gateway")


class Attempt:
    """A request that is being handled."""

    def __init__(self, records: Records[KeptRequest], request: KeyedRequest, record: KeptRequest) -> None:
        self._records = records
        self._request = request
        self._record = record

    async def succeed(self, status: int, body: bytes) -> None:
        """Keep the answer. If it is too large or NATS is down, a repetition is handled again, now or later."""
        if len(body) > ANSWER_BYTES_MAX:
            await self.give_up()
            return
        answered = self._record.model_copy(update={"status": status, "sealed": self._request.seal(body)})
        try:
            await self._records.modify(
                self._request.record_key,
                lambda found: answered if found is None or found.attempt == answered.attempt else found,
            )
        except (NatsError, TimeoutError) as error:
            log.warning("cannot keep the answer of a request: %s", reason_of(error))

    async def give_up(self) -> None:
        """Forget the request, so that its repetition is handled."""
        try:
            await self._records.delete_if(
                self._request.record_key, lambda found: found.attempt == self._record.attempt
            )
        except (NatsError, TimeoutError) as error:
            log.warning("cannot forget a request that failed: %s", reason_of(error))


def _is_dead(request: KeptRequest, now: datetime) -> bool:
    """Whether a request is in progress for longer than any request takes."""
    return not request.status and now - request.began_at > timedelta(seconds=IN_PROGRESS_S_MAX)
