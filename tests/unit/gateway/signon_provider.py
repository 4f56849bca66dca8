"""An identity provider in memory: keys, tokens, and documents at URLs, with a clock that tests move."""

import asyncio
import base64
import json
from functools import cache
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

from prism_gateway.signon.issuers import Issuer
from prism_gateway.signon.verifier import Verifier

ISSUER = "https://login.example.com"
AUDIENCE = "https://prism.example.com/mcp"
JWKS_URI = f"{ISSUER}/jwks"
NOW = 1_800_000_000
TIMES = 3600


@cache
def made_key(algorithm: str, number: int) -> RSAKey | ECKey:
    """Returns the same key for the same number, because keys take long to make."""
    if algorithm == "RS256":
        return RSAKey.generate_key(2048, parameters={"kid": f"rsa-{number}"})
    return ECKey.generate_key("P-256", parameters={"kid": f"ec-{number}"})


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def part(value: object) -> str:
    return b64(json.dumps(value).encode())


class Provider:
    """Answers the fetches of a verifier, and signs tokens."""

    def __init__(self, algorithm: str = "RS256", **issuer: Any) -> None:
        self.algorithm = algorithm
        self.issuer = Issuer(**{"issuer": ISSUER, "audiences": (AUDIENCE,)} | issuer)
        self.keys = [made_key(algorithm, 0)]
        self.time = 0.0
        self.is_down = False
        self.answers = asyncio.Event()
        self.answers.set()
        self.fetched: list[str] = []
        self.documents: dict[str, dict[str, Any]] = {
            f"{ISSUER}/.well-known/openid-configuration": {"issuer": ISSUER, "jwks_uri": JWKS_URI}
        }

    @property
    def key(self) -> RSAKey | ECKey:
        return self.keys[-1]

    def rotate(self, number: int, *, keep: int = 1) -> None:
        """Signs with another key, and still publishes the last `keep` keys."""
        self.keys = [*self.keys[len(self.keys) - keep :], made_key(self.algorithm, number)]

    async def fetch(self, url: str) -> dict[str, Any]:
        self.fetched.append(url)
        await self.answers.wait()
        if self.is_down:
            raise OSError("down")
        if url == JWKS_URI and url not in self.documents:
            return {"keys": [key.as_dict(private=False) for key in self.keys]}
        return self.documents[url]

    @property
    def key_fetches(self) -> int:
        return self.fetched.count(JWKS_URI)

    def verifier(self) -> Verifier:
        return Verifier(
            [self.issuer],
            self.fetch,
            scope_prefix="prism.",
            now=lambda: NOW + self.time,
            clock=lambda: 1000.0 + self.time,
        )

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Returns the claims of a good token; a change to None leaves a claim out."""
        now = NOW + int(self.time)
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "alice",
            "tid": "acme",
            "scope": "openid prism.read",
            "iat": now,
            "exp": now + TIMES,
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, *, signer: Any = None, header: dict[str, Any] | None = None, **claims: Any) -> str:
        signer = signer or self.key
        head = {"alg": self.algorithm, "kid": self.key.kid} | (header or {})
        head = {name: value for name, value in head.items() if value is not None}
        return jwt.encode(head, self.claims(**claims), signer, algorithms=[self.algorithm])

    def signed(self, header: dict[str, Any], payload: bytes = b"", **claims: Any) -> str:
        """Returns a token with any header and any payload, where an encoder would refuse. Its signature is good."""
        head = {"alg": self.algorithm, "kid": self.key.kid} | header
        text = f"{part(head)}.{b64(payload or json.dumps(self.claims(**claims)).encode())}"
        signature = JWSRegistry.algorithms[self.algorithm].sign(text.encode(), self.key)
        return f"{text}.{b64(signature)}"

    def with_parts(self, **parts: str) -> str:
        """Returns a good token with some of its parts replaced."""
        head, payload, signature = self.token().split(".")
        kept = {"head": head, "payload": payload, "signature": signature} | parts
        return ".".join(kept.values())
