"""Access tokens: what is accepted, and each known attack on JWTs."""

import hashlib
import hmac
import json
import logging
from datetime import UTC, datetime

import pytest
from joserfc import jwt
from signon_provider import AUDIENCE, ISSUER, NOW, TIMES, Provider, b64, made_key, part

from prism_gateway.callers import Caller
from prism_gateway.signon.access_tokens import (
    LEEWAY_S,
    TOKEN_CHARS_MAX,
    InvalidToken,
    TokenHead,
    caller_id,
    read_caller,
)
from prism_gateway.signon.issuers import Issuer

BOTH = pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
SPLIT = "head", "payload", "signature"


async def admitted(provider: Provider, token: str) -> Caller | None:
    return await provider.verifier().caller(token)


@BOTH
async def test_a_good_token_names_its_caller(algorithm) -> None:
    provider = Provider(algorithm)
    assert await admitted(provider, provider.token()) == Caller(
        tenant="acme",
        scopes=frozenset({"read"}),
        id="jwt:" + hashlib.sha256(f"{ISSUER}\0alice".encode()).hexdigest()[:12],
        label="alice",
        expires_at=datetime.fromtimestamp(NOW + TIMES, UTC),
    )


def test_the_same_subject_of_another_issuer_is_another_caller() -> None:
    assert len({caller_id("https://a", "b"), caller_id("https://b", "b"), caller_id("https://a", "c")}) == 3


@BOTH
@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["https://other", AUDIENCE]},
        {"exp": NOW - LEEWAY_S + 1},
        {"exp": NOW + 0.5},
        {"nbf": NOW + LEEWAY_S},
        {"iat": NOW + LEEWAY_S},
        {"nbf": NOW - 1},
        {"tid": "0b9c7e2a-2f39-4d0c-9d0f-5b1f9d6f3a11"},
    ],
)
async def test_good_claims_are_accepted(algorithm, claims) -> None:
    provider = Provider(algorithm)
    assert await admitted(provider, provider.token(**claims))


@BOTH
@pytest.mark.parametrize(
    "claims",
    [
        *({name: None} for name in ("iss", "aud", "sub", "tid", "exp", "iat")),
        {"exp": NOW - LEEWAY_S},
        {"nbf": NOW + LEEWAY_S + 1},
        {"iat": NOW + LEEWAY_S + 1},
        {"exp": str(NOW + TIMES)},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**30},
        {"exp": True},
        {"exp": [NOW + TIMES]},
        {"nbf": "soon"},
        {"iat": {}},
        {"aud": "https://other.example.com/mcp"},
        {"aud": AUDIENCE + "/"},
        {"aud": AUDIENCE[:-1]},
        {"aud": []},
        {"aud": {AUDIENCE: 1}},
        {"iss": "https://evil.example.com"},
        {"iss": ISSUER + "/"},
        {"iss": [ISSUER]},
        {"iss": ["https://evil.example.com", ISSUER]},
        {"sub": ""},
        {"sub": 7},
        {"sub": "a" * 256},
        {"sub": "alice\n"},
        {"tid": {"id": "acme"}},
        {"tid": ["acme"]},
        {"tid": ""},
        {"tid": "../acme"},
        {"tid": "acme.>"},
        {"tid": "*"},
        {"tid": "ACME"},
        {"tid": "acme\n"},
        {"tid": "a" * 64},
    ],
    ids=str,
)
async def test_a_bad_claim_is_refused(algorithm, claims) -> None:
    provider = Provider(algorithm)
    assert await admitted(provider, provider.token(**claims)) is None


@BOTH
@pytest.mark.parametrize("text", ["sub", "tid", "iss", "kid", "scope"])
async def test_half_a_character_is_no_crash(algorithm, text) -> None:
    provider = Provider(algorithm)
    claims = {} if text == "kid" else {text: "\ud800"}
    token = provider.signed({"kid": "\ud800"} if text == "kid" else {}, **claims)
    assert (await admitted(provider, token) is None) is (text != "scope")


@BOTH
@pytest.mark.parametrize(
    "name", ["none", "None", "nOnE", "HS256", "RS512", "PS256", "ES384", "EdDSA", "", None, 7]
)
async def test_other_algorithms_are_refused_before_a_key_is_fetched(algorithm, name) -> None:
    provider = Provider(algorithm)
    token = provider.with_parts(head=part({"alg": name, "kid": provider.key.kid}))
    unsigned = token.rpartition(".")[0]
    for attempt in (token, f"{unsigned}.", f"{unsigned}.AA"):
        assert await admitted(provider, attempt) is None
    assert not provider.fetched


@BOTH
async def test_a_public_key_as_secret_of_an_hmac_is_refused(algorithm) -> None:
    provider = Provider(algorithm)
    for secret in (
        provider.key.as_pem(private=False),
        json.dumps(provider.key.as_dict(private=False)).encode(),
    ):
        signed = f"{part({'alg': 'HS256', 'kid': provider.key.kid, 'typ': 'JWT'})}.{part(provider.claims())}"
        mac = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
        assert await admitted(provider, f"{signed}.{b64(mac)}") is None


@BOTH
async def test_swapped_parts_are_refused(algorithm) -> None:
    provider = Provider(algorithm)
    other = dict(zip(SPLIT, provider.token(sub="bob", tid="other").split("."), strict=True))
    for name in ("payload", "signature"):
        assert await admitted(provider, provider.with_parts(**{name: other[name]})) is None
    assert await admitted(provider, provider.with_parts(signature=part("x" * 255))) is None
    assert await admitted(provider, provider.with_parts(signature="AA")) is None


@BOTH
async def test_a_foreign_key_under_a_known_id_is_refused(algorithm) -> None:
    provider = Provider(algorithm)
    foreign = made_key(algorithm, 9)
    assert await admitted(provider, provider.token(signer=foreign)) is None


@BOTH
async def test_keys_that_a_token_brings_are_never_used(algorithm) -> None:
    provider = Provider(algorithm)
    foreign = made_key(algorithm, 9)
    public = foreign.as_dict(private=False)
    for header in (
        {"jwk": public},
        {"jku": "https://evil.example.com/jwks"},
        {"x5u": "https://evil.example.com/x"},
        {"x5c": ["MIIB"]},
        {"kid": foreign.kid, "jwk": public, "jku": "https://evil.example.com/jwks"},
    ):
        head = part({"alg": algorithm, "kid": provider.key.kid} | header)
        payload = part(provider.claims())
        signature = jwt.encode({"alg": algorithm}, {}, foreign, algorithms=[algorithm]).split(".")[2]
        assert await admitted(provider, f"{head}.{payload}.{signature}") is None
    assert {url.partition("/jwks")[0].partition("/.well")[0] for url in provider.fetched} == {ISSUER}


@BOTH
@pytest.mark.parametrize("crit", [["x"], ["b64"], [], "x", 7, None])
async def test_a_critical_extension_is_refused(algorithm, crit) -> None:
    provider = Provider(algorithm)
    assert await admitted(provider, provider.signed({"x": 1, "b64": True}))
    assert await admitted(provider, provider.signed({"crit": crit, "x": 1, "b64": True})) is None


@BOTH
async def test_the_other_algorithm_under_the_same_key_id_is_refused(algorithm) -> None:
    provider = Provider(algorithm)
    other = {"RS256": "ES256", "ES256": "RS256"}[algorithm]
    head = part({"alg": other, "kid": provider.key.kid})
    assert await admitted(provider, provider.with_parts(head=head)) is None


@BOTH
@pytest.mark.parametrize("kid", [None, "", 7, ["rsa-0"], "k" * 257])
async def test_a_token_without_a_key_id_is_refused(algorithm, kid) -> None:
    provider = Provider(algorithm)
    head = {"alg": algorithm} | ({} if kid is None else {"kid": kid})
    assert await admitted(provider, provider.with_parts(head=part(head))) is None
    assert not provider.fetched


@pytest.mark.parametrize("kind", ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", None])
async def test_types_of_access_tokens_are_accepted(kind) -> None:
    provider = Provider()
    header = {"alg": "RS256", "kid": provider.key.kid} | ({} if kind is None else {"typ": kind})
    token = jwt.encode(header, provider.claims(), provider.key, default_type=None)
    assert await admitted(provider, token)


@pytest.mark.parametrize("kind", ["logout+jwt", "dpop+jwt", "secevent+jwt", "id+jwt", "JWE"])
async def test_other_types_are_refused(kind) -> None:
    provider = Provider()
    assert await admitted(provider, provider.token(header={"typ": kind})) is None


@pytest.mark.parametrize("kind", [7, ["JWT"], {}])
async def test_a_type_that_is_no_text_is_refused(kind) -> None:
    provider = Provider()
    head = part({"alg": "RS256", "kid": provider.key.kid, "typ": kind})
    assert await admitted(provider, provider.with_parts(head=head)) is None


async def test_an_issuer_may_accept_fewer_types_and_algorithms() -> None:
    strict = Provider(types=("at+jwt",), algorithms=("RS256",))
    assert await admitted(strict, strict.token()) is None
    assert await admitted(strict, strict.token(header={"typ": "at+jwt"}))
    assert await admitted(other := Provider("ES256", algorithms=("RS256",)), other.token()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "a.b.c",
        "..",
        "a" * (TOKEN_CHARS_MAX + 1),
        "é.é.é",
        "\x00.\x00.\x00",
        f"{b64(b'[' * 3000)}.{b64(b'[' * 3000)}.AA",
        f"{part([])}.{part([])}.AA",
        f"{part('x')}.{part(7)}.AA",
        f"{b64(b'{' + b'1' * 5000 + b'}')}.{part({})}.AA",
    ],
    ids=lambda text: text[:12],
)
async def test_what_is_no_token_is_refused(text) -> None:
    provider = Provider()
    assert await admitted(provider, text) is None
    assert not provider.fetched


async def test_nested_claims_are_no_crash() -> None:
    provider = Provider()
    payload = json.dumps(provider.claims())[:-1].encode() + b',"x":' + b"[" * 3000
    token = provider.signed({}, payload)
    assert await admitted(provider, token) is None
    with pytest.raises(InvalidToken):
        read(provider, token)


def test_the_issuer_is_checked_with_the_signature() -> None:
    provider = Provider()
    assert read(provider, provider.token()).label == "alice"
    for issuer in ("https://evil.example.com", [ISSUER], ["https://evil.example.com", ISSUER], None):
        with pytest.raises(InvalidToken):
            read(provider, provider.token(iss=issuer))


def read(provider: Provider, token: str) -> Caller:
    """Reads a token as one of the issuer, whatever it says about itself."""
    head = TokenHead(ISSUER, provider.key.kid, provider.algorithm, "jwt")
    return read_caller(token, head, provider.key, provider.issuer, scope_prefix="prism.", now=NOW)


@BOTH
async def test_headers_that_are_not_understood_are_ignored(algorithm) -> None:
    provider = Provider(algorithm)
    for header in ({"rh": "0.AA", "ver": 7}, {"x5t": "aGFzaA", "x5c": ["MIIB" + "A" * 1500]}):
        assert await admitted(provider, provider.signed(header))


async def test_a_token_at_the_limit_is_accepted() -> None:
    provider = Provider()
    token = provider.token()
    pad = "x" * ((TOKEN_CHARS_MAX - len(token)) * 3 // 4 - 12)
    longest = provider.token(pad=pad)
    assert TOKEN_CHARS_MAX - 20 < len(longest) <= TOKEN_CHARS_MAX
    assert await admitted(provider, longest)
    assert await admitted(provider, provider.token(pad=pad + "x" * 40)) is None


async def test_junk_in_the_base64_is_refused() -> None:
    provider = Provider()
    head, payload, signature = provider.token().split(".")
    for changed in (signature + "=", signature + "!", signature[:9] + "\n" + signature[9:], signature + "A"):
        assert await admitted(provider, f"{head}.{payload}.{changed}") is None


@pytest.mark.parametrize(
    ("issuer", "claim", "scopes"),
    [
        ({}, {"scope": "prism.read prism.write"}, {"read", "write"}),
        ({}, {"scope": ["prism.read", 7, None, "prism.admin"]}, {"read", "admin"}),
        ({}, {"scope": "read write admin operator prism. prism.READ prism.all"}, set()),
        ({}, {"scope": None}, set()),
        ({}, {"scope": {"prism.read": True}}, set()),
        ({}, {"scope": "prism.read prism.operator"}, {"read"}),
        ({"scopes_max": ["read", "operator"]}, {"scope": "prism.write prism.operator"}, {"operator"}),
        ({"scope_claim": "permissions"}, {"permissions": ["prism.write"]}, {"write"}),
        ({"scopes": {"developers": "write"}, "scope_claim": "groups"}, {"groups": ["developers"]}, {"write"}),
        ({"scopes": {"root": "operator"}}, {"scope": "root"}, set()),
    ],
)
async def test_scopes_follow_from_the_claim_and_the_settings(issuer, claim, scopes) -> None:
    provider = Provider(**issuer)
    caller = await admitted(provider, provider.token(**claim))
    assert caller
    assert caller.scopes == scopes


async def test_the_claim_of_the_tenant_is_a_setting() -> None:
    provider = Provider(tenant_claim="https://prism.example.com/tenant")
    token = provider.token(**{"https://prism.example.com/tenant": "other", "tid": "acme"})
    caller = await admitted(provider, token)
    assert caller
    assert caller.tenant == "other"


async def test_the_reason_is_logged_without_the_token(caplog) -> None:
    caplog.set_level(logging.DEBUG)
    provider = Provider()
    for token in (provider.token(aud="elsewhere"), provider.token(exp=NOW - 999)):
        assert await admitted(provider, token) is None
        assert token not in caplog.text
        assert token.split(".")[1] not in caplog.text
    assert "aud" in caplog.text
    assert "expired" in caplog.text


@pytest.mark.parametrize(
    "fields",
    [
        {"issuer": "login.example.com"},
        {"issuer": "ftp://x"},
        {"issuer": "https://user@x"},
        {"jwks_uri": "file:///etc/passwd"},
        {"algorithms": ["HS256"]},
        {"algorithms": ["none"]},
        {"algorithms": []},
        {"audience": "x"},
        {"scopes": {"a": "root"}},
    ],
)
def test_an_issuer_with_a_mistake_is_refused(fields) -> None:
    with pytest.raises(ValueError, match=next(iter(fields))):
        Issuer(**{"issuer": ISSUER} | fields)
