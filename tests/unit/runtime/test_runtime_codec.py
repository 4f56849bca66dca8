"""The claim check with an object store in memory; the real one is in tests/contract/test_bus.py."""

import hashlib
from types import SimpleNamespace

import pytest
from nats.js.errors import ObjectNotFoundError

from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.names import MESSAGE_BYTES_MAX
from prism_runtime import codec as codec_module
from prism_runtime.codec import CLAIM_TYPE, JSON_TYPE, Claim, ClaimCodec


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


@pytest.fixture
def codec() -> ClaimCodec:
    made = ClaimCodec()
    made.store = MemoryStore()
    return made


async def test_a_model_travels_as_json(codec):
    body, content_type = await codec.encode(Body(text="é"))
    assert (body, content_type) == ('{"text":"é"}'.encode(), JSON_TYPE)
    assert await codec.decode(incoming(body, content_type)) == body


async def test_a_body_at_the_limit_travels_itself_and_one_past_it_by_claim(codec):
    body, content_type = await codec.encode(of_size(MESSAGE_BYTES_MAX))
    assert (len(body), content_type) == (MESSAGE_BYTES_MAX, JSON_TYPE)
    assert not codec.store.objects

    large = of_size(MESSAGE_BYTES_MAX + 1)
    body, content_type = await codec.encode(large)
    assert content_type == CLAIM_TYPE
    claim = Claim.model_validate_json(body)
    assert claim.size_bytes == MESSAGE_BYTES_MAX + 1
    assert claim.object == hashlib.sha256(large.model_dump_json().encode()).hexdigest()
    assert await codec.decode(incoming(body, content_type)) == large.model_dump_json().encode()


async def test_the_same_large_body_is_kept_once(codec):
    for _ in range(2):
        await codec.encode(of_size(MESSAGE_BYTES_MAX + 1))
    assert len(codec.store.objects) == 1


async def test_a_body_past_the_largest_is_refused(codec, monkeypatch):
    monkeypatch.setattr(codec_module, "BODY_BYTES_MAX", MESSAGE_BYTES_MAX + 10)
    await codec.encode(of_size(MESSAGE_BYTES_MAX + 10))
    with pytest.raises(PrismError) as caught:
        await codec.encode(of_size(MESSAGE_BYTES_MAX + 11))
    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE


async def test_a_claim_whose_body_is_gone_is_an_invalid_message(codec):
    body = Claim(object="gone", size_bytes=1).model_dump_json().encode()
    with pytest.raises(PrismError) as caught:
        await codec.decode(incoming(body, CLAIM_TYPE))
    assert caught.value.code is ErrorCode.MESSAGE_INVALID


async def test_without_a_store_small_bodies_travel_and_large_ones_wait():
    codec = ClaimCodec()
    await codec.encode(of_size(100))
    with pytest.raises(PrismError) as caught:
        await codec.encode(of_size(MESSAGE_BYTES_MAX + 1))
    assert caught.value.code is ErrorCode.UNAVAILABLE
