"""The claim check with an object store in memory; the real one is in tests/contract/test_bus.py."""

import hashlib
import random
import string
from types import SimpleNamespace

import pytest
import zstandard
from nats.js.errors import ObjectNotFoundError

from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.names import MESSAGE_BYTES_MAX
from prism_runtime import codec as codec_module
from prism_runtime.codec import CLAIM_TYPE, COMPRESSED_BYTES_MIN, JSON_TYPE, ZSTD_TYPE, Claim, ClaimCodec


class Body(Message):
    text: str


class MemoryStore:
    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    async def put(self, name: str, data: bytes) -> None:
        self.objects[name] = data

    async def get(self, name: str) -> SimpleNamespace:
        if name not in self.objects:
            raise ObjectNotFoundError
        return SimpleNamespace(data=self.objects[name])


def incoming(body: bytes, content_type: str | None) -> SimpleNamespace:
    return SimpleNamespace(body=body, content_type=content_type)


def of_size(size_bytes: int) -> Body:
    return Body(text="x" * (size_bytes - len(Body(text="").model_dump_json())))


def incompressible(size_bytes: int) -> Body:
    """Takes about three quarters of its size when compressed."""
    return Body(text="".join(random.Random(1).choices(string.ascii_letters + string.digits, k=size_bytes)))


@pytest.fixture
def codec() -> ClaimCodec:
    made = ClaimCodec()
    made.store = MemoryStore()
    return made


async def test_a_model_is_sent_as_json(codec):
    body, content_type = await codec.encode(Body(text="é"))
    assert (body, content_type) == ('{"text":"é"}'.encode(), JSON_TYPE)
    assert await codec.decode(incoming(body, content_type)) == body


async def test_a_body_is_compressed_from_a_minimum_size(codec):
    small, large = of_size(COMPRESSED_BYTES_MIN - 1), of_size(COMPRESSED_BYTES_MIN)
    assert (await codec.encode(small))[1] == JSON_TYPE
    body, content_type = await codec.encode(large)
    assert content_type == ZSTD_TYPE
    assert len(body) < 100
    assert await codec.decode(incoming(body, content_type)) == large.model_dump_json().encode()


async def test_a_body_past_the_limit_is_sent_as_a_claim(codec, monkeypatch):
    large = incompressible(100_000)
    body, content_type = await codec.encode(large)
    assert content_type == ZSTD_TYPE

    monkeypatch.setattr(codec_module, "MESSAGE_BYTES_MAX", len(body))
    assert await codec.encode(large) == (body, ZSTD_TYPE)
    assert not codec.store.objects

    monkeypatch.setattr(codec_module, "MESSAGE_BYTES_MAX", len(body) - 1)
    travelling, content_type = await codec.encode(large)
    assert content_type == CLAIM_TYPE
    claim = Claim.model_validate_json(travelling)
    assert claim == Claim(
        object=hashlib.sha256(body).hexdigest(), size_bytes=len(body), content_type=ZSTD_TYPE
    )
    assert await codec.decode(incoming(travelling, content_type)) == large.model_dump_json().encode()


async def test_the_same_large_body_is_stored_once(codec):
    for _ in range(2):
        assert (await codec.encode(incompressible(2 * MESSAGE_BYTES_MAX)))[1] == CLAIM_TYPE
    assert len(codec.store.objects) == 1


async def test_a_body_past_the_largest_is_refused(codec, monkeypatch):
    monkeypatch.setattr(codec_module, "BODY_BYTES_MAX", MESSAGE_BYTES_MAX + 10)
    await codec.encode(of_size(MESSAGE_BYTES_MAX + 10))
    with pytest.raises(PrismError) as caught:
        await codec.encode(of_size(MESSAGE_BYTES_MAX + 11))
    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE


@pytest.mark.parametrize("damage", [b"", b"not zstd", zstandard.compress(b"x" * 5_000)[:-3]])
async def test_a_damaged_body_is_an_invalid_message(codec, damage):
    with pytest.raises(PrismError) as caught:
        await codec.decode(incoming(damage, ZSTD_TYPE))
    assert caught.value.code is ErrorCode.MESSAGE_INVALID


async def test_a_body_that_grows_past_the_largest_is_refused_unread(codec, monkeypatch):
    bomb = zstandard.compress(b"x" * 100_000)
    assert len(await codec.decode(incoming(bomb, ZSTD_TYPE))) == 100_000
    monkeypatch.setattr(codec_module, "BODY_BYTES_MAX", 99_999)
    endless = zstandard.ZstdCompressor().compressobj()
    for body in (
        bomb,
        endless.compress(b"x" * 10) + endless.flush(),
    ):  # the second one does not declare its length
        with pytest.raises(PrismError) as caught:
            await codec.decode(incoming(body, ZSTD_TYPE))
        assert caught.value.code is ErrorCode.MESSAGE_INVALID


async def test_a_claim_without_its_body_is_an_invalid_message(codec):
    body = Claim(object="gone", size_bytes=1, content_type=JSON_TYPE).model_dump_json().encode()
    with pytest.raises(PrismError) as caught:
        await codec.decode(incoming(body, CLAIM_TYPE))
    assert caught.value.code is ErrorCode.MESSAGE_INVALID


async def test_without_a_store_only_small_bodies_are_sent():
    codec = ClaimCodec()
    await codec.encode(of_size(100))
    with pytest.raises(PrismError) as caught:
        await codec.encode(incompressible(2 * MESSAGE_BYTES_MAX))
    assert caught.value.code is ErrorCode.UNAVAILABLE
