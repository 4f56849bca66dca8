"""Sign-on at the gateway: the settings, the verifier and the tenants together."""

import logging
from typing import Final

from prism_catalog.tenants import Tenants
from prism_gateway.callers import Caller
from prism_gateway.settings import GatewaySettings
from prism_gateway.signon.access_tokens import ID_PREFIX
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
        if caller is None or await self._admits(caller.tenant):
            return caller
        log.info("a token was refused: the tenant %s is unknown or inactive", caller.tenant)
        return None

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
