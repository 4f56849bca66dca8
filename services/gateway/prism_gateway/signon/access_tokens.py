"""Reads an access token. Takes text, a key and the time; knows no network and no clock.

An `InvalidToken` has a reason for the log. A caller learns only that the token is invalid.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

from prism_contracts.types import TENANT_PATTERN
from prism_gateway.callers import Caller
from prism_gateway.scopes import TokenScope
from prism_gateway.signon.issuers import ALGORITHMS, Issuer

TOKEN_CHARS_MAX = 8_192
KEY_ID_CHARS_MAX = 256
SUBJECT_CHARS_MAX = 255
LEEWAY_S = 60
ID_PREFIX = "jwt:"
ID_CHARS = 12
# The end of the year 9999, the latest time that `datetime` can represent.
EXPIRES_AT_MAX = 253_402_300_799

Key = RSAKey | ECKey

_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_TENANT = re.compile(TENANT_PATTERN)


class InvalidToken(Exception):  # noqa: N818 - the name of RFC 6750
    """A token that is not accepted. The text is the reason, for the log alone; it quotes nothing."""


@dataclass(frozen=True, slots=True)
class TokenHead:
    """What a token says about itself before it is verified. Chooses the issuer and the key, nothing else."""

    issuer: str
    key_id: str
    algorithm: str
    type: str


class _Registry(JWSRegistry):
    # The whole token is limited. The default of 512 refuses tokens that carry their certificate.
    max_header_length = TOKEN_CHARS_MAX


# Unknown headers are ignored, as RFC 7515 demands. Keys and URLs of keys in a header are never used.
_REGISTRY = _Registry(algorithms=list(ALGORITHMS), strict_check_header=False)


def read_head(token: str) -> TokenHead:
    """Returns what an unverified token says about itself. Raises InvalidToken."""
    if len(token) > TOKEN_CHARS_MAX or not _TOKEN.fullmatch(token):
        raise InvalidToken("it is not a JWT")
    encoded_header, encoded_claims, _ = token.split(".")
    header, claims = _decoded(encoded_header), _decoded(encoded_claims)
    algorithm, key_id, kind = header.get("alg"), header.get("kid"), header.get("typ", "")
    # `none`, HS256 and the rest end here, before a key is looked for.
    if algorithm not in ALGORITHMS:
        raise InvalidToken("its algorithm is not accepted")
    if "crit" in header:
        raise InvalidToken("it needs an extension")
    if not isinstance(key_id, str) or not 0 < len(key_id) <= KEY_ID_CHARS_MAX:
        raise InvalidToken("it names no key")
    issuer = claims.get("iss")
    if not isinstance(issuer, str) or not isinstance(kind, str):
        raise InvalidToken("it names no issuer")
    return TokenHead(issuer, key_id, algorithm, kind.lower())


def read_caller(
    token: str, head: TokenHead, key: Key, issuer: Issuer, *, scope_prefix: str, now: float
) -> Caller:
    """Verifies the signature and the claims of a token, and returns its caller. Raises InvalidToken."""
    if head.type not in issuer.types or head.algorithm not in issuer.algorithms:
        raise InvalidToken("its type or algorithm is not accepted from this issuer")
    claims = _verified_claims(token, head.algorithm, key, issuer, int(now))
    subject, tenant = claims["sub"], claims.get(issuer.tenant_claim)
    if not isinstance(subject, str) or not _is_subject(subject):
        raise InvalidToken("its subject is not text")
    if not isinstance(tenant, str) or not _TENANT.fullmatch(tenant):
        raise InvalidToken("it names no tenant")
    return Caller(
        tenant=tenant,
        scopes=_scopes(claims.get(issuer.scope_claim), issuer, scope_prefix),
        id=caller_id(issuer.issuer, subject),
        label=subject,
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
    )


def caller_id(issuer: str, subject: str) -> str:
    """Returns the id of a person or machine at an issuer."""
    digest = hashlib.sha256(f"{issuer}\x00{subject}".encode()).hexdigest()
    return f"{ID_PREFIX}{digest[:ID_CHARS]}"


def _decoded(part: str) -> dict[str, Any]:
    try:
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError) as error:
        raise InvalidToken("it is not JSON in base64") from error
    if not isinstance(found, dict):
        raise InvalidToken("it is not JSON in base64")
    return found


def _verified_claims(token: str, algorithm: str, key: Key, issuer: Issuer, now: int) -> dict[str, Any]:
    rules = jwt.JWTClaimsRegistry(
        now=now,
        leeway=LEEWAY_S,
        aud={"essential": True, "values": list(issuer.audiences)},
        exp={"essential": True},
        iat={"essential": True},
        sub={"essential": True},
    )
    try:
        claims = jwt.decode(token, key, algorithms=[algorithm], registry=_REGISTRY).claims
        rules.validate(claims)
    except JoseError as error:
        raise InvalidToken(f"{error.error} {getattr(error, 'claim', '')}".strip()) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidToken(f"it cannot be read: {type(error).__name__}") from error
    # joserfc would accept a list of issuers that contains the right one.
    if claims.get("iss") != issuer.issuer:
        raise InvalidToken("its issuer is another")
    if claims["exp"] > EXPIRES_AT_MAX:
        raise InvalidToken("it expires too late")
    return claims


def _is_subject(text: str) -> bool:
    return 0 < len(text) <= SUBJECT_CHARS_MAX and text.isprintable()


def _scopes(claim: object, issuer: Issuer, prefix: str) -> frozenset[str]:
    names = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    known = {prefix + scope: scope for scope in TokenScope} | issuer.scopes
    claimed = {known[name] for name in names if isinstance(name, str) and name in known}
    return frozenset(claimed & issuer.scopes_max)
