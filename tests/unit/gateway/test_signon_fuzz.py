"""Access tokens made up at random: the answer is a caller or none, never a crash."""

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st
from signon_provider import AUDIENCE, ISSUER, NOW, Provider

PROVIDER = Provider()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
HEADERS = st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "crit", "jwk", "jku", "x5c", "b64", "zip", "cty"]), JSON, max_size=3
)
CLAIMS = st.dictionaries(
    st.sampled_from(["iss", "aud", "sub", "tid", "scope", "iat", "exp", "nbf", "jti", "acr"]),
    JSON | st.sampled_from([ISSUER, AUDIENCE, NOW, [AUDIENCE]]),
    max_size=4,
)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_refused(text) -> None:
    assert asyncio.run(Provider().verifier().caller(text)) is None


@given(HEADERS, CLAIMS)
@settings(max_examples=300, deadline=None)
def test_any_signed_claims_are_read_or_refused(header, claims) -> None:
    whole = PROVIDER.claims() | claims
    token = PROVIDER.signed({"typ": "JWT"} | header, json.dumps(whole).encode())
    caller = asyncio.run(PROVIDER.verifier().caller(token))
    if caller:
        assert whole["iss"] == ISSUER
        assert whole["aud"] == AUDIENCE or AUDIENCE in whole["aud"]
        assert caller.label == whole["sub"]
        assert caller.tenant == whole["tid"]
        assert not caller.scopes - {"read"}
