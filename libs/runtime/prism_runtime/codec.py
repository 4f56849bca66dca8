"""How messages become bytes: JSON, and a claim check for what is too large for the bus.

NATS drops a client whose message passes the server's limit, headers included, so a large body goes to the
object store under its SHA-256 and only a reference travels.
"""

import hashlib
from typing import Any

from faststream.message import StreamMessage, encode_message
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore
from pydantic import BaseModel

from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.names import MESSAGE_BYTES_MAX

JSON_TYPE = "application/json"
CLAIM_TYPE = "application/vnd.prism.claim+json"
BODY_BYTES_MAX = 64 * 1024 * 1024


class Claim(Message):
    """Stands for a body that lies in the object store."""

    object: str
    size_bytes: int


class ClaimCodec:
    """A FastStream codec. Until `store` is set, large bodies are refused."""

    def __init__(self) -> None:
        self.store: ObjectStore | None = None

    async def encode(self, msg: Any, serializer: Any = None) -> tuple[bytes, str | None]:
        """Bytes and content type of an outgoing message."""
        if isinstance(msg, BaseModel):
            body, content_type = msg.model_dump_json().encode(), JSON_TYPE
        else:
            body, encoded_type = encode_message(msg, serializer)
            content_type = encoded_type or JSON_TYPE
        if len(body) <= MESSAGE_BYTES_MAX:
            return body, content_type
        claim = await self._deposit(body)
        return claim.model_dump_json().encode(), CLAIM_TYPE

    async def decode(self, msg: StreamMessage[Any]) -> bytes:
        """The body of an incoming message, fetched from the store if only a claim came."""
        if msg.content_type != CLAIM_TYPE:
            return bytes(msg.body)
        return await self.redeem(msg.body)

    async def redeem(self, body: bytes) -> bytes:
        """The bytes that a claim stands for."""
        claim = Claim.model_validate_json(body)
        store = self._require_store()
        try:
            stored = await store.get(claim.object)
        except ObjectNotFoundError as error:
            raise PrismError(
                ErrorCode.MESSAGE_INVALID,
                f"The body of a message is gone from the object store: {claim.object}",
            ) from error
        return stored.data or b""

    async def _deposit(self, body: bytes) -> Claim:
        if len(body) > BODY_BYTES_MAX:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"A message of {len(body)} bytes is over the limit of {BODY_BYTES_MAX}.",
                "Send less at once.",
            )
        claim = Claim(object=hashlib.sha256(body).hexdigest(), size_bytes=len(body))
        await self._require_store().put(claim.object, body)
        return claim

    def _require_store(self) -> ObjectStore:
        if self.store is None:
            raise PrismError(ErrorCode.UNAVAILABLE, "The object store is not connected yet.", "Try again.")
        return self.store
