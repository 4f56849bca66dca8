"""Reading large bodies."""

import gzip

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.rest.ingest import _gunzip, _verify

LIMIT = 1_000


def test_gzip_is_unpacked_up_to_the_limit() -> None:
    assert _gunzip(gzip.compress(b"x" * LIMIT), LIMIT) == b"x" * LIMIT
    with pytest.raises(PrismError) as caught:
        _gunzip(gzip.compress(b"x" * (LIMIT + 1)), LIMIT)
    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE


def test_a_bomb_is_stopped_early() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    with pytest.raises(PrismError) as caught:
        _gunzip(bomb, LIMIT)
    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE


@pytest.mark.parametrize("body", [b"", b"plain", gzip.compress(b"x" * 100, mtime=0)[:-3]])
def test_a_broken_body_is_an_invalid_argument(body) -> None:
    with pytest.raises(PrismError) as caught:
        _gunzip(body, LIMIT)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT


def test_a_pack_is_checked_against_its_digest_in_either_case() -> None:
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    _verify(b"x", digest)
    _verify(b"x", digest.upper())
    for wrong in ("", "0" * 64, digest[:-1], "é" * 64):
        with pytest.raises(PrismError) as caught:
            _verify(b"x", wrong)
        assert caught.value.code is ErrorCode.UPLOAD_MISMATCH
