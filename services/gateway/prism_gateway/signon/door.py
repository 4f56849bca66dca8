"""Sign-on at the gateway: the settings, the verifier and the tenants together."""

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from prism_catalog.tenants import Tenants
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import SignedOn
from prism_gateway.callers import Caller
from prism_gateway.settings import GatewaySettings
from prism_gateway.signon.access_tokens import ID_PREFIX, read_head
from prism_gateway.signon.browser import BrowserSignOn, SignOnAttempt
from prism_gateway.signon.fetching import JsonFetcher
from prism_gateway.signon.issuers import Issuer
from prism_gateway.signon.resource import Resource
from prism_gateway.signon.verifier import Verifier

MCP_PATH: Final = "/mcp"

log = logging.getLogger(__name__)


class SignOn:
    """The door for access tokens. Closed without an issuer in the settings."""

    def __init__(self, settings: GatewaySettings, tenants: Tenants, *, plan: str) -> None:
        url = settings.public_url.rstrip("/") + MCP_PATH
        issuers = [_with_audience(issuer, url) for issuer in settings.jwt_issuers]
        self._tenants = tenants
        self._plan = plan
        self._settings = settings
        self._fetcher = JsonFetcher(allow_private=settings.jwt_allow_private) if issuers else None
        self._verifier = (
            Verifier(issuers, self._fetcher.get, scope_prefix=settings.jwt_scope_prefix)
            if self._fetcher
            else None
        )
        servers = tuple(issuer.issuer for issuer in issuers if issuer.sign_on)
        self._issuers = {issuer.issuer: issuer for issuer in issuers}
        self.browser = (
            BrowserSignOn(
                issuers,
                self._fetcher.get,
                self._fetcher.post,
                public_url=settings.public_url,
                resource=url,
                scope_prefix=settings.jwt_scope_prefix,
                client_secret=settings.console_client_secret.get_secret_value(),
            )
            if self._fetcher
            else None
        )
        # Without a place to sign on, a client that reads metadata would look for one here.
        self.resource = Resource(url, servers, settings.jwt_scope_prefix) if servers else None

    @property
    def is_open(self) -> bool:
        """Whether an issuer is configured."""
        return self._verifier is not None

    async def caller(self, token: str) -> Caller | None:
        """Returns the caller of a valid token whose tenant may use Prism, None for others.

        Raises UNAVAILABLE.
        """
        caller = await self._verifier.caller(token) if self._verifier else None
        return caller if caller is None or await self._is_admitted(caller) else None

    async def finish(self, attempt: SignOnAttempt | None, answer: Mapping[str, str]) -> SignedOn:
        """Returns the person who came back from a provider. Raises PrismError: UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE."""
        assert self.browser is not None
        token = await self.browser.finish(attempt, answer)
        caller = await self.caller(token)
        issuer = read_head(token).issuer if caller else ""
        if caller is None or attempt is None or issuer != attempt.issuer:
            raise PrismError(
                ErrorCode.FORBIDDEN,
                "You signed in at the identity provider, and its token does not admit you to Prism.",
                "Ask who runs Prism: the token needs this audience, a tenant that exists, and a scope. "
                "The log of the gateway has the reason.",
            )
        return SignedOn(
            issuer=issuer,
            tenant=caller.tenant,
            id=caller.id,
            label=caller.label,
            scopes=tuple(sorted(caller.scopes)),
        )

    async def person(self, found: SignedOn, until: datetime) -> Caller | None:
        """Returns a person who signed on in a browser; None if the settings or the tenant do not allow it any more.

        Raises UNAVAILABLE.
        """
        issuer = self._issuers.get(found.issuer)
        if issuer is None or not issuer.client_id:
            return None
        scopes = frozenset(found.scopes) & frozenset(scope.value for scope in issuer.scopes_max)
        caller = Caller(tenant=found.tenant, scopes=scopes, id=found.id, label=found.label, expires_at=until)
        return caller if await self._is_admitted(caller) else None

    async def _is_admitted(self, caller: Caller) -> bool:
        if await self._admits(caller.tenant):
            return True
        log.info("a caller was refused: the tenant %s is unknown or inactive", caller.tenant)
        return False

    async def close(self) -> None:
        """Close the connections to issuers."""
        if self._verifier and self._fetcher:
            await self._verifier.close()
            await self._fetcher.close()

    async def _admits(self, tenant: str) -> bool:
        known = self._tenants.get(tenant)
        if known:
            return known.is_active
        _ = self._tenants.records  # raises until they are known
        if self._settings.jwt_make_tenants:
            await self._tenants.ensure(tenant, self._plan)
            return True
        return tenant == self._settings.bootstrap_tenant


def signed_on(caller: Caller) -> bool:
    """Whether the caller has an access token of an issuer, not a token of Prism."""
    return caller.id.startswith(ID_PREFIX)


def _with_audience(issuer: Issuer, url: str) -> Issuer:
    return issuer if issuer.audiences else issuer.model_copy(update={"audiences": (url,)})
