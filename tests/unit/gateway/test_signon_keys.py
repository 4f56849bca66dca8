"""Keys of issuers: rotation, unknown keys, an issuer that is down, and what a verifier remembers."""

import asyncio

import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey
from signon_provider import AUDIENCE, ISSUER, JWKS_URI, Provider, made_key

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.signon.keys import (
    FRESH_S,
    KEYS_MAX,
    RETRY_S,
    STALE_S_MAX,
    UNKNOWN_PAUSE_S,
    usable_keys,
)
from prism_gateway.signon.verifier import REMEMBERED_S_MAX, Verifier

CONFIGURATION = f"{ISSUER}/.well-known/openid-configuration"


@pytest.fixture(params=["RS256", "ES256"])
def provider(request) -> Provider:
    return Provider(request.param)


async def assert_unavailable(verifier, token) -> None:
    with pytest.raises(PrismError) as caught:
        await verifier.caller(token)
    assert caught.value.code is ErrorCode.UNAVAILABLE
    assert caught.value.body.next_action


async def test_keys_are_fetched_once_while_they_are_fresh(provider) -> None:
    verifier = provider.verifier()
    for step in range(5):
        provider.time = step * (FRESH_S - 1) / 4
        assert await verifier.caller(provider.token(n=step))
    assert provider.fetched == [CONFIGURATION, JWKS_URI]
    provider.time = FRESH_S
    assert await verifier.caller(provider.token())
    assert provider.key_fetches == 2


async def test_a_key_set_by_setting_needs_no_discovery() -> None:
    provider = Provider(jwks_uri=JWKS_URI)
    assert await provider.verifier().caller(provider.token())
    assert provider.fetched == [JWKS_URI]


async def test_a_rotated_key_is_found_at_once(provider) -> None:
    verifier = provider.verifier()
    old = provider.token()
    assert await verifier.caller(old)
    provider.rotate(1)
    assert await verifier.caller(provider.token())
    assert await verifier.caller(
        provider.token(signer=made_key(provider.algorithm, 0), n=1, header={"kid": provider.keys[0].kid})
    )
    assert provider.key_fetches == 2


async def test_unknown_keys_cause_one_fetch_in_a_pause(provider) -> None:
    verifier = provider.verifier()
    assert await verifier.caller(provider.token())
    provider.rotate(1)
    assert await verifier.caller(provider.token())
    provider.rotate(2)
    assert await verifier.caller(provider.token()) is None
    provider.time = UNKNOWN_PAUSE_S - 1
    assert await verifier.caller(provider.token()) is None
    provider.time = UNKNOWN_PAUSE_S
    assert await verifier.caller(provider.token())
    assert provider.key_fetches == 3


async def test_500_unknown_keys_at_once_share_one_fetch(provider) -> None:
    verifier = provider.verifier()
    assert await verifier.caller(provider.token())
    tokens = [provider.token(header={"kid": f"no-{index}"}) for index in range(500)]
    callers = await asyncio.gather(*map(verifier.caller, tokens), verifier.caller(provider.token(n=1)))
    assert [caller for caller in callers if caller] == [callers[-1]]
    assert provider.key_fetches == 2


async def test_a_withdrawn_key_is_refused_once_keys_are_refreshed(provider) -> None:
    verifier = provider.verifier()
    old = provider.token()
    assert await verifier.caller(old)
    provider.rotate(1, keep=0)
    provider.time = FRESH_S
    assert await verifier.caller(old) is None


async def test_a_verified_token_is_remembered_for_a_minute(provider) -> None:
    verifier = provider.verifier()
    token = provider.token()
    assert await verifier.caller(token)
    provider.rotate(1, keep=0)
    provider.time = 1.0
    assert await verifier.caller(provider.token())  # fetches the keys without the old one
    provider.time = REMEMBERED_S_MAX - 1
    assert await verifier.caller(token)
    provider.time = REMEMBERED_S_MAX
    assert await verifier.caller(token) is None


async def test_a_token_is_never_remembered_past_its_end(provider) -> None:
    verifier = provider.verifier()
    token = provider.token(exp=provider.claims()["iat"] + 10)
    assert await verifier.caller(token)
    provider.rotate(1, keep=0)
    assert await verifier.caller(provider.token())
    provider.time = 9
    assert await verifier.caller(token)
    provider.time = 10  # within the leeway, but no longer remembered
    assert await verifier.caller(token) is None


async def test_known_keys_serve_for_a_day_while_the_issuer_is_down(provider) -> None:
    verifier = provider.verifier()
    assert await verifier.caller(provider.token())
    provider.is_down = True
    for provider.time in (FRESH_S, 10 * FRESH_S, STALE_S_MAX):
        assert await verifier.caller(provider.token())
    provider.time = STALE_S_MAX + 1
    await assert_unavailable(verifier, provider.token())
    provider.is_down = False
    provider.time += RETRY_S
    assert await verifier.caller(provider.token())


async def test_without_keys_and_without_the_issuer_tokens_are_unavailable(provider) -> None:
    provider.is_down = True
    verifier = provider.verifier()
    for _ in range(20):
        await assert_unavailable(verifier, provider.token())
    assert len(provider.fetched) == 1
    provider.is_down = False
    provider.time = RETRY_S
    assert await verifier.caller(provider.token())


async def test_an_unknown_key_of_an_issuer_that_is_down_is_unavailable(provider) -> None:
    verifier = provider.verifier()
    assert await verifier.caller(provider.token())
    provider.rotate(1)
    provider.is_down = True
    await assert_unavailable(verifier, provider.token())
    assert await verifier.caller(
        provider.token(signer=provider.keys[0], header={"kid": provider.keys[0].kid})
    )


async def test_known_keys_do_not_wait_for_an_issuer_that_is_down(provider) -> None:
    verifier = provider.verifier()
    assert await verifier.caller(provider.token())
    provider.is_down = True
    provider.time = FRESH_S
    assert await verifier.caller(provider.token())
    provider.answers.clear()
    provider.time += RETRY_S
    async with asyncio.timeout(5):
        for step in range(5):
            assert await verifier.caller(provider.token(n=step))
    provider.is_down = False
    provider.answers.set()
    await asyncio.sleep(0)
    await verifier.close()


async def test_a_caller_that_leaves_does_not_end_the_fetch_of_others(provider) -> None:
    verifier = provider.verifier()
    provider.answers.clear()
    first = asyncio.create_task(verifier.caller(provider.token()))
    second = asyncio.create_task(verifier.caller(provider.token(n=1)))
    while not provider.fetched:
        await asyncio.sleep(0)
    first.cancel()
    provider.answers.set()
    assert await second
    assert first.cancelled()
    assert provider.key_fetches == 1


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example.com", "jwks_uri": JWKS_URI},
        {"issuer": ISSUER + "/", "jwks_uri": JWKS_URI},
        {"issuer": ISSUER},
        {},
    ],
)
async def test_a_configuration_of_another_issuer_gives_no_keys(provider, document) -> None:
    provider.documents[CONFIGURATION] = document
    await assert_unavailable(provider.verifier(), provider.token())
    assert not provider.key_fetches


@pytest.mark.parametrize("document", [{}, {"keys": None}, {"keys": {"kid": 1}}, {"keys": "x"}])
async def test_a_broken_key_set_leaves_the_known_keys(provider, document) -> None:
    verifier = provider.verifier()
    assert await verifier.caller(provider.token())
    provider.documents[JWKS_URI] = document
    provider.time = FRESH_S
    assert await verifier.caller(provider.token())


@pytest.mark.filterwarnings("ignore:Key size should be")
def test_keys_that_cannot_verify_are_left_out(provider) -> None:
    good = provider.key.as_dict(private=False)
    bad = [
        OctKey.generate_key(256, parameters={"kid": "secret", "alg": "HS256"}).as_dict(private=True),
        ECKey.generate_key("P-384", parameters={"kid": "p384"}).as_dict(private=False),
        RSAKey.generate_key(1024, parameters={"kid": "short"}).as_dict(private=False),
        good | {"kid": "enc", "use": "enc"},
        good | {"kid": "alg", "alg": "PS256"},
        good | {"kid": "ops", "key_ops": ["encrypt"]},
        good | {"kid": "ops-text", "key_ops": 7},
        good | {"kid": 7},
        {name: value for name, value in good.items() if name != "kid"},
        {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
        {"kty": "RSA", "kid": "empty"},
        {"kty": "EC", "crv": "P-256", "kid": "off", "x": "AAAA", "y": "AAAA"},
        {"kty": "AKP", "kid": "new", "alg": "ML-DSA-65"},
        "text",
        None,
    ]
    keys = usable_keys({"keys": [*bad, good]})
    assert set(keys) == {(provider.key.kid, provider.algorithm)}


def test_a_key_set_with_private_parts_is_read_as_public(provider) -> None:
    (key,) = usable_keys({"keys": [provider.key.as_dict(private=True)]}).values()
    assert not key.is_private


def test_a_key_set_is_read_up_to_its_limit() -> None:
    public = made_key("ES256", 0).as_dict(private=False)
    listed = [public | {"kid": str(index)} for index in range(KEYS_MAX + 1)]
    assert len(usable_keys({"keys": listed})) == KEYS_MAX


async def test_several_issuers_have_keys_of_their_own() -> None:
    first, second = Provider(), Provider(issuer="https://second.example.com", jwks_uri="https://second/jwks")
    foreign = made_key("RS256", 8)

    async def fetch(url: str) -> dict:
        if url == "https://second/jwks":
            return {"keys": [foreign.as_dict(private=False)]}
        return await first.fetch(url)

    verifier = Verifier(
        [first.issuer, second.issuer], fetch, scope_prefix="prism.", now=lambda: first.claims()["iat"]
    )
    there = {"iss": "https://second.example.com", "aud": AUDIENCE}
    assert await verifier.caller(first.token())
    assert await verifier.caller(first.token(signer=foreign, header={"kid": foreign.kid}, **there))
    # The key of one issuer signs nothing of the other.
    assert await verifier.caller(first.token(signer=foreign, header={"kid": foreign.kid})) is None
    assert await verifier.caller(first.token(**there)) is None
