"""`python -m bench.sign_on`: how long an access token takes to check, known and for the first time.

Measures the verifier alone, with keys in memory: no network, no other requests.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from prism_gateway.callers import Caller
from prism_gateway.signon.issuers import Issuer
from prism_gateway.signon.verifier import Verifier

ISSUER, AUDIENCE = "https://login.example.com", "https://prism.example.com/mcp"
TOKENS = 500
ROUNDS = 20

Check = Callable[[str], Awaitable[Caller | None]]


async def main() -> None:
    """Print the median and the 99th percentile of each kind of check."""
    print("| algorithm | check | p50 ms | p99 ms |\n|---|---|---|---|")
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


def _print(algorithm: str, check: str, times: list[float]) -> None:
    p99 = statistics.quantiles(times, n=100)[98]
    print(f"| {algorithm} | {check} | {statistics.median(times):.3f} | {p99:.3f} |")


if __name__ == "__main__":
    asyncio.run(main())
