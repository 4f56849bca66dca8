"""The public keys of one issuer: fetched when needed, refreshed while used, kept while the issuer is down."""

import asyncio
import logging
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, RSAKey

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_gateway.signon.access_tokens import InvalidToken, Key
from prism_gateway.signon.issuers import Algorithm, Issuer

# Keys are fetched again after this time, so a withdrawn key is not accepted for longer.
FRESH_S: Final = 600.0
# How long keys are accepted while their issuer is down.
STALE_S_MAX: Final = 24 * 3600.0
# Keys that are unknown cause one fetch in this time, however many tokens name them.
UNKNOWN_PAUSE_S: Final = 30.0
# An issuer that is down is asked again after this time.
RETRY_S: Final = 5.0
KEYS_MAX: Final = 100
RSA_BITS_MIN: Final = 2_048
RSA_BITS_MAX: Final = 8_192

DISCOVERY_PATH = "/.well-known/openid-configuration"

Json = dict[str, Any]
Fetch = Callable[[str], Awaitable[Json]]
KeySet = Mapping[tuple[str, str], Key]  # by key id and algorithm

log = logging.getLogger(__name__)


async def configuration_of(issuer: Issuer, fetch: Fetch) -> Json:
    """Returns what an issuer publishes of itself. Raises ValueError, TimeoutError, httpx2.HTTPError."""
    found = await fetch(issuer.issuer.rstrip("/") + DISCOVERY_PATH)
    if found.get("issuer") != issuer.issuer:  # RFC 8414, 3.3
        raise ValueError("its configuration names another issuer")
    return found


def usable_keys(document: Json) -> KeySet:
    """Returns the keys of a JWKS that verify signatures. Others, and broken ones, are left out."""
    listed = document.get("keys")
    if not isinstance(listed, list):
        raise ValueError("the key set has no keys")  # noqa: TRY004 - a document, not an argument
    found: dict[tuple[str, str], Key] = {}
    for entry in listed[:KEYS_MAX]:
        algorithm = _algorithm(entry) if isinstance(entry, dict) else None
        key = algorithm and _imported(entry)
        if algorithm and key:
            found[entry["kid"], algorithm] = key
    return found


class KeyBook:
    """The keys of an issuer. All callers share one fetch, and none waits for an issuer that is down."""

    def __init__(self, issuer: Issuer, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._keys: KeySet = {}
        self._fetched_at = self._asked_at = self._missed_at = float("-inf")
        self._is_down = False
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, key_id: str, algorithm: str) -> Key:
        """Returns a key. Raises InvalidToken if the issuer has none, UNAVAILABLE if it cannot be asked."""
        wanted = (key_id, algorithm)
        known = self._current(wanted)
        age = self._clock() - self._fetched_at
        if known and age < FRESH_S:
            return known
        if self._fetching is None and self._may_fetch(age):
            self._fetching = asyncio.create_task(self._refresh())
        if self._fetching and not (known and self._is_down):
            # A caller that disconnects does not end the fetch of the others.
            await asyncio.shield(self._fetching)
            known = self._current(wanted)
        if known:
            return known
        if self._is_down:
            raise _unavailable()
        raise InvalidToken("its key is not among those of the issuer")

    async def close(self) -> None:
        """End a fetch in progress."""
        if self._fetching:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)

    def _current(self, wanted: tuple[str, str]) -> Key | None:
        if self._clock() - self._fetched_at > STALE_S_MAX:
            self._keys = {}
        return self._keys.get(wanted)

    def _may_fetch(self, age: float) -> bool:
        now = self._clock()
        if age >= FRESH_S:
            return now - self._asked_at >= RETRY_S
        # The keys are fresh, and this one is not among them: new, or made up.
        if now - self._missed_at < UNKNOWN_PAUSE_S:
            return False
        self._missed_at = now
        return True

    async def _refresh(self) -> None:
        self._asked_at = self._clock()
        try:
            self._keys = usable_keys(await self._fetch(await self._jwks_uri()))
            self._fetched_at, self._is_down = self._clock(), False
        except Exception as error:  # noqa: BLE001 - whatever a provider sends, its known keys go on
            self._is_down = True
            log.warning(
                "no keys of the issuer %s: %s", self._issuer.issuer, shown(str(error)) or type(error).__name__
            )
        finally:
            self._fetching = None

    async def _jwks_uri(self) -> str:
        if self._issuer.jwks_uri:
            return self._issuer.jwks_uri
        return str((await configuration_of(self._issuer, self._fetch))["jwks_uri"])


def _algorithm(entry: Json) -> Algorithm | None:
    """Returns the algorithm that a key of a JWKS is for, None for others, among them every secret key."""
    kind: Algorithm | None = "RS256" if entry.get("kty") == "RSA" else None
    if entry.get("kty") == "EC" and entry.get("crv") == "P-256":
        kind = "ES256"
    operations = entry.get("key_ops", ["verify"])
    fits = (
        isinstance(entry.get("kid"), str)
        and entry.get("alg", kind) == kind
        and entry.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
    )
    return kind if fits else None


def _imported(entry: Json) -> Key | None:
    try:
        if entry["kty"] == "EC":
            return ECKey.import_key({name: entry[name] for name in ("kty", "crv", "x", "y")})
        with warnings.catch_warnings():
            # It only warns of keys that are refused below.
            warnings.simplefilter("ignore", SecurityWarning)
            key = RSAKey.import_key({name: entry[name] for name in ("kty", "n", "e")})
        public = key.public_key
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    assert isinstance(public, RSAPublicKey)
    return key if RSA_BITS_MIN <= public.key_size <= RSA_BITS_MAX else None


def _unavailable() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE,
        "The token cannot be checked: its issuer is not reachable.",
        "Retry in a few seconds. A token of Prism (`prism_…`) works meanwhile.",
    )
