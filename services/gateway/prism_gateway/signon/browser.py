"""Signs people on in a browser: the authorization code flow of OAuth 2.1 with PKCE.

`begin` sends a browser to its provider, and `finish` takes the code that it comes back with, in exchange for an
access token. That token is checked as any other, so no ID token is needed. What links the two is an `SignOnAttempt`,
which the browser keeps in a cookie: nothing is kept here, and any copy finishes what another began.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpx2

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_gateway.signon.issuers import Issuer
from prism_gateway.signon.keys import Fetch, configuration_of

DONE_PATH: Final = "/login/done"
ATTEMPT_S: Final = 600
ATTEMPT_CHARS_MAX: Final = 4_000
CODE_CHARS_MAX: Final = 4_096
METADATA_FRESH_S: Final = 600.0
SECRET_BYTES: Final = 32

Post = Callable[[str, Mapping[str, str], tuple[str, str] | None], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class SignOnAttempt:
    """A sign-on that a browser has begun."""

    issuer: str
    state: str
    verifier: str  # of PKCE: only the browser that began can use the code
    wanted: str  # the page to go to afterwards

    def write(self) -> str:
        """Returns the attempt as the value of a cookie."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()

    @classmethod
    def read(cls, cookie: str) -> "SignOnAttempt | None":
        """Returns the attempt of a cookie, None if there is none in it."""
        if not 0 < len(cookie) <= ATTEMPT_CHARS_MAX:
            return None
        try:
            fields = json.loads(base64.urlsafe_b64decode(cookie))
            found = cls(**fields)
        except (ValueError, TypeError, RecursionError):
            return None
        return found if all(isinstance(value, str) for value in fields.values()) else None


class BrowserSignOn:
    """The issuers that sign people on in a browser: those with a `client_id`."""

    def __init__(
        self,
        issuers: Sequence[Issuer],
        fetch: Fetch,
        post: Post,
        *,
        public_url: str,
        resource: str,
        scope_prefix: str,
        client_secret: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuers = {issuer.issuer: issuer for issuer in issuers if issuer.client_id}
        self._fetch = fetch
        self._post = post
        self._done_url = public_url.rstrip("/") + DONE_PATH
        self._resource = resource
        self._scope_prefix = scope_prefix
        self._client_secret = client_secret
        self._clock = clock
        self._endpoints: dict[str, tuple[float, str, str]] = {}

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the issuers, in the order of the settings: what a page offers."""
        return tuple(urlsplit(issuer).netloc for issuer in self._issuers)

    async def begin(self, number: int, wanted: str) -> tuple[str, SignOnAttempt]:
        """Returns where to send a browser, and what it has to keep. `number` is that of a host, from 0.

        Raises PrismError: INVALID_ARGUMENT, UNAVAILABLE.
        """
        issuers = list(self._issuers.values())
        if not 0 <= number < len(issuers):
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT, "There is no such identity provider.", "Choose one of the page."
            )
        issuer = issuers[number]
        attempt = SignOnAttempt(
            issuer.issuer,
            state=secrets.token_urlsafe(SECRET_BYTES),
            verifier=secrets.token_urlsafe(SECRET_BYTES),
            wanted=wanted,
        )
        challenge = base64.urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest())
        question = {
            "response_type": "code",
            "client_id": issuer.client_id,
            "redirect_uri": self._done_url,
            "scope": issuer.client_scope or f"openid {self._scope_prefix}read {self._scope_prefix}write",
            "state": attempt.state,
            "code_challenge": challenge.rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **self._resource_of(issuer),
        }
        page, _ = await self._endpoints_of(issuer)
        return f"{page}{'&' if urlsplit(page).query else '?'}{urlencode(question)}", attempt

    async def finish(self, attempt: SignOnAttempt | None, answer: Mapping[str, str]) -> str:
        """Returns the access token for the answer that a browser came back with.

        Raises PrismError: UNAUTHENTICATED, UNAVAILABLE.
        """
        issuer = self._issuers.get(attempt.issuer) if attempt else None
        if (
            attempt is None
            or issuer is None
            or not secrets.compare_digest(answer.get("state", "").encode(), attempt.state.encode())
            or answer.get("iss", issuer.issuer) != issuer.issuer  # RFC 9207
        ):
            raise _refused("This sign-in was begun elsewhere, or more than ten minutes ago.")
        code = answer.get("code", "")
        if not 0 < len(code) <= CODE_CHARS_MAX:
            reason = answer.get("error_description") or answer.get("error") or "it gave no code"
            raise _refused(f"The identity provider refused: {shown(reason)}.")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._done_url,
            "client_id": issuer.client_id,
            "code_verifier": attempt.verifier,
            **self._resource_of(issuer),
        }
        login = (issuer.client_id, self._client_secret) if self._client_secret else None
        _, exchange = await self._endpoints_of(issuer)
        try:
            found = await self._post(exchange, form, login)
        except (ValueError, TimeoutError, httpx2.HTTPError) as error:
            raise _away(issuer, error) from error
        token = found.get("access_token")
        if not isinstance(token, str):
            raise _refused(
                f"The identity provider refused: {shown(str(found.get('error', 'no access token')))}."
            )
        return token

    def _resource_of(self, issuer: Issuer) -> dict[str, str]:
        # Some providers refuse the parameter of RFC 8707; their tokens have an audience of their own.
        return {"resource": self._resource} if self._resource in issuer.audiences else {}

    async def _endpoints_of(self, issuer: Issuer) -> tuple[str, str]:
        """Returns the page where people sign on, and the URL that exchanges codes. Raises UNAVAILABLE."""
        fetched_at, page, exchange = self._endpoints.get(issuer.issuer, (float("-inf"), "", ""))
        if self._clock() - fetched_at < METADATA_FRESH_S:
            return page, exchange
        try:
            found = await configuration_of(issuer, self._fetch)
            page, exchange = _url(found["authorization_endpoint"]), _url(found["token_endpoint"])
        except (ValueError, KeyError, TimeoutError, httpx2.HTTPError) as error:
            raise _away(issuer, error) from error
        self._endpoints[issuer.issuer] = (self._clock(), page, exchange)
        return page, exchange


def _url(found: object) -> str:
    parts = urlsplit(found) if isinstance(found, str) else None
    if parts is None or parts.scheme not in {"https", "http"} or not parts.netloc or parts.fragment:
        raise ValueError("its configuration names no URL")
    return parts.geturl()


def _refused(message: str) -> PrismError:
    return PrismError(
        ErrorCode.UNAUTHENTICATED, message, "Sign in again. A developer token signs in as well."
    )


def _away(issuer: Issuer, error: Exception) -> PrismError:
    reason = shown(str(error)) or type(error).__name__
    return PrismError(
        ErrorCode.UNAVAILABLE,
        f"The identity provider {urlsplit(issuer.issuer).netloc} cannot be asked: {reason}.",
        "Retry in a few seconds. A developer token signs in meanwhile.",
    )
