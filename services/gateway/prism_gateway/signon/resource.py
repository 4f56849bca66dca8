"""`/mcp` as a protected resource of OAuth 2.1: where clients sign on, and what a refused request lacks.

See RFC 9728 (metadata), RFC 6750 (challenges) and the authorization chapter of MCP.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from prism_gateway.scopes import TokenScope

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
METADATA_AGE_S_MAX: Final = 300
INVALID_TOKEN: Final = "invalid_token"  # noqa: S105 - a code of RFC 6750
INSUFFICIENT_SCOPE: Final = "insufficient_scope"
ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}
PREFLIGHT = {**ANY_ORIGIN, "Access-Control-Allow-Headers": "*", "Access-Control-Allow-Methods": "GET"}


@dataclass(frozen=True, slots=True)
class Resource:
    """The public URL of `/mcp`, and where its clients sign on."""

    url: str  # without a slash at the end
    authorization_servers: tuple[str, ...]
    scope_prefix: str

    @property
    def metadata_url(self) -> str:
        """Where the metadata is: the well-known path, inserted before the path of the resource."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path}"

    def challenge(self, error: str = "", scopes: Iterable[str] = (TokenScope.READ,)) -> str:
        """Returns the value of `WWW-Authenticate`. A request without a token gets no error."""
        parts = [f'error="{error}"'] if error else []
        parts += [f'resource_metadata="{self.metadata_url}"', f'scope="{self._names(scopes)}"']
        return f"Bearer {', '.join(parts)}"

    def routes(self) -> list[Route]:
        """The metadata at each path where clients look for it."""
        # An issuer stays text: a URL type may add a slash, and clients compare it with the issuer's own.
        document = {
            "resource": self.url,
            "resource_name": "Prism",
            "authorization_servers": list(self.authorization_servers),
            "scopes_supported": [self._names([TokenScope.READ])],
            "bearer_methods_supported": ["header"],
        }

        async def metadata(request: Request) -> Response:
            if request.method == "OPTIONS":
                return Response(status_code=204, headers=PREFLIGHT)
            age = {"Cache-Control": f"public, max-age={METADATA_AGE_S_MAX}"}
            return JSONResponse(document, headers=ANY_ORIGIN | age)

        paths = {WELL_KNOWN, f"{WELL_KNOWN}/mcp", urlsplit(self.metadata_url).path}
        return [Route(path, metadata, methods=["GET", "OPTIONS"]) for path in sorted(paths)]

    def _names(self, scopes: Iterable[str]) -> str:
        wanted = set(scopes)
        return " ".join(f"{self.scope_prefix}{scope}" for scope in TokenScope if scope in wanted)
