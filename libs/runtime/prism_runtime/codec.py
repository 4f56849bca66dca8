"""Encodes messages:

JSON, compressed unless small, and a claim check for bodies that are too large for the bus.

The text of a file crosses the bus four times. Compressed, it needs a quarter of the streams and the network,
for the same CPU. NATS disconnects a client whose message exceeds the limit, headers included. So a large body
goes to the object store under its SHA-256, and only a reference travels.
"""

import contextlib
import hashlib
import io
import uuid
from typing import IO, Any, cast

from faststream.message import StreamMessage, encode_message
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore
from pydantic import BaseModel

from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.names import MESSAGE_BYTES_MAX
from prism_runtime.compression import compress, decompress

JSON_TYPE = "application/json"
ZSTD_TYPE = "application/zstd"  # of JSON; RFC 8878
CLAIM_TYPE = "application/vnd.prism.claim+json"
BODY_BYTES_MAX = 64 * 1024 * 1024
COMPRESSED_BYTES_MIN = 2_048


class Claim(Message):
    """A reference to a body in the object store."""

    object: str
    size_bytes: int
    content_type: str


class ClaimCodec:
    """A FastStream codec. Until `store` is set, large bodies are refused."""

    def __init__(self) -> None:
        self.store: ObjectStore | None = None

    async def encode(self, msg: Any, serializer: Any = None) -> tuple[bytes, str | None]:
        """Returns the bytes and content type of an outgoing message."""
        if isinstance(msg, BaseModel):
            body, content_type = msg.model_dump_json().encode(), JSON_TYPE
        else:
            body, encoded_type = encode_message(msg, serializer)
            content_type = encoded_type or JSON_TYPE
        if len(body) > BODY_BYTES_MAX:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The message has {len(body)} bytes; the limit is {BODY_BYTES_MAX}.",
                "Send a smaller message.",
            )
        if content_type == JSON_TYPE and len(body) >= COMPRESSED_BYTES_MIN:
            body, content_type = compress(body), ZSTD_TYPE
        if len(body) <= MESSAGE_BYTES_MAX:
            return body, content_type
        claim = await self._deposit(body, content_type)
        return claim.model_dump_json().encode(), CLAIM_TYPE

    async def decode(self, msg: StreamMessage[Any]) -> bytes:
        """Returns the body of an incoming message: the inverse of `encode`.

        Raises MESSAGE_INVALID, UNAVAILABLE.
        """
        return await self.decode_body(bytes(msg.body), msg.content_type or "")

    async def decode_body(self, body: bytes, content_type: str) -> bytes:
        """The same for bytes and a content type."""
        if content_type == CLAIM_TYPE:
            claim = Claim.model_validate_json(body)
            body, content_type = await self._redeem(claim), claim.content_type
        return _decompress(body) if content_type == ZSTD_TYPE else body

    async def store_file(self, file: IO[bytes]) -> str:
        """Store the rest of a file in the object store, for another service. Returns its name there."""
        name = uuid.uuid4().hex
        await self._require_store().put(name, cast("io.BufferedIOBase", file))
        return name

    async def read_file(self, name: str, file: IO[bytes]) -> None:
        """Write a stored object to a file. Raises MESSAGE_INVALID if it no longer exists."""
        try:
            await self._require_store().get(name, writeinto=cast("io.BufferedIOBase", file))
        except ObjectNotFoundError as error:
            raise PrismError(
                ErrorCode.MESSAGE_INVALID, f"The upload {name} no longer exists.", "Send it again."
            ) from error

    async def drop_file(self, name: str) -> None:
        """Delete a stored object."""
        with contextlib.suppress(ObjectNotFoundError):
            await self._require_store().delete(name)

    async def _redeem(self, claim: Claim) -> bytes:
        store = self._require_store()
        try:
            stored = await store.get(claim.object)
        except ObjectNotFoundError as error:
            raise PrismError(
                ErrorCode.MESSAGE_INVALID,
                f"The body of a message is gone from the object store: {claim.object}",
            ) from error
        return stored.data or b""

    async def _deposit(self, body: bytes, content_type: str) -> Claim:
        claim = Claim(
            object=hashlib.sha256(body).hexdigest(), size_bytes=len(body), content_type=content_type
        )
        await self._require_store().put(claim.object, body)
        return claim

    def _require_store(self) -> ObjectStore:
        if self.store is None:
            raise PrismError(ErrorCode.UNAVAILABLE, "The object store is not connected yet.", "Try again.")
        return self.store


def _decompress(body: bytes) -> bytes:
    try:
        return decompress(body, BODY_BYTES_MAX)
    except ValueError as error:
        raise PrismError(
            ErrorCode.MESSAGE_INVALID, f"A compressed message cannot be read: {error}."
        ) from error
