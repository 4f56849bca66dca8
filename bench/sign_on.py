"""`python -m bench.sign_on`: how long a token takes to check: of an identity provider, and of Prism.

Measures the check alone, without a request around it. The keys of the identity provider are in memory; the
developer tokens are in a nats-server of the measurement, which answers for tokens that are unknown.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from bench.broker import nats_server
from prism_catalog.tenants import PlanSettings, Tenants
from prism_contracts import names
from prism_contracts.records import Token
from prism_contracts.token_secrets import digest_of, new_secret
from prism_gateway.callers import Caller
from prism_gateway.signon.issuers import Issuer
from prism_gateway.signon.verifier import Verifier
from prism_gateway.tokens import TokenBook
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings

ISSUER, AUDIENCE = "https://login.example.com", "https://prism.example.com/mcp"
TOKENS = 500
ROUNDS = 20
DEVELOPER_TOKENS = 10_000
WRITTEN_AT_ONCE = 100

Check = Callable[[str], Awaitable[Caller | None]]


async def main() -> None:
    """Print the median and the 99th percentile of each kind of check."""
    print("| token | check | p50 ms | p99 ms |\n|---|---|---|---|")
    await _access_tokens()
    with nats_server() as url:
        await _developer_tokens(url)


async def _access_tokens() -> None:
    for algorithm in ("RS256", "ES256"):
        key = _key(algorithm)
        tokens = [_token(algorithm, key, number) for number in range(TOKENS)]

        async def fetch(_: str, key: RSAKey | ECKey = key) -> dict[str, object]:
            return {"keys": [key.as_dict(private=False)]}

        issuer = Issuer(issuer=ISSUER, audiences=(AUDIENCE,), jwks_uri=f"{ISSUER}/jwks")
        verifier = Verifier([issuer], fetch, scope_prefix="prism.")
        await verifier.caller(_token(algorithm, key, -1))  # fetches the keys
        _print(algorithm, "first", await _times(verifier.caller, tokens))
        _print(algorithm, "known", await _times(verifier.caller, tokens * ROUNDS))
        forged = [f"{token[:-8]}AAAAAAAA" for token in tokens]
        _print(algorithm, "forged", await _times(verifier.caller, forged, is_valid=False))


async def _developer_tokens(url: str) -> None:
    bus = Bus("gateway", ServiceSettings(nats_url=url))
    await bus.start()
    secrets = [new_secret() for _ in range(DEVELOPER_TOKENS)]
    records = Records(await open_bucket(bus.js, names.KV_TOKENS), Token)
    token = Token(tenant="acme", label="ci", created_at=datetime.now(UTC))
    for start in range(0, DEVELOPER_TOKENS, WRITTEN_AT_ONCE):
        batch = secrets[start : start + WRITTEN_AT_ONCE]
        await asyncio.gather(*(records.put(digest_of(secret), token) for secret in batch))
    tenants = Tenants(PlanSettings())
    await tenants.open(bus, replicas=1)
    book = TokenBook(tenants)
    await book.open(bus, replicas=1)
    _print("developer token", "known", await _times(book.find, secrets))
    unknown = [new_secret() for _ in range(TOKENS)]
    _print("developer token", "unknown", await _times(book.find, unknown, is_valid=False))
    mistyped = [f"{secret[:-1]}{'a' if secret[-1] != 'a' else 'b'}" for secret in secrets]
    _print("developer token", "mistyped", await _times(book.find, mistyped, is_valid=False))
    await bus.stop()


def _key(algorithm: str) -> RSAKey | ECKey:
    if algorithm == "RS256":
        return RSAKey.generate_key(2048, parameters={"kid": "a"})
    return ECKey.generate_key("P-256", parameters={"kid": "a"})


def _token(algorithm: str, key: RSAKey | ECKey, number: int) -> str:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "tid": "acme", "scope": "prism.read"}
    times = {"iat": now, "exp": now + 3600, "jti": str(number)}
    return jwt.encode({"alg": algorithm, "kid": "a"}, claims | times, key, algorithms=[algorithm])


async def _times(check: Check, tokens: list[str], *, is_valid: bool = True) -> list[float]:
    found = []
    for token in tokens:
        start = time.perf_counter()
        caller = await check(token)
        found.append((time.perf_counter() - start) * 1000)
        assert (caller is not None) is is_valid
    return found


def _print(token: str, check: str, times: list[float]) -> None:
    p99 = statistics.quantiles(times, n=100)[98]
    print(f"| {token} | {check} | {statistics.median(times):.3f} | {p99:.3f} |")


if __name__ == "__main__":
    asyncio.run(main())
