"""The identity providers whose access tokens Prism accepts, as settings."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from prism_gateway.scopes import TokenScope

URL_CHARS_MAX = 2_048
NAME_CHARS_MAX = 256
LIST_MAX = 32

Algorithm = Literal["RS256", "ES256"]
ALGORITHMS: tuple[Algorithm, ...] = ("RS256", "ES256")
# Access tokens of RFC 9068, and those of providers that write `JWT` or nothing.
TYPES = ("at+jwt", "application/at+jwt", "jwt", "")

Url = Annotated[
    str, StringConstraints(max_length=URL_CHARS_MAX, pattern=r"^https?://[^\s/?#@]+(?:/[^\s?#]*)?$")
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_CHARS_MAX)]


class Issuer(BaseModel):
    """An identity provider: how to check its tokens, and what they mean."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: Url  # equal to the claim `iss`, character by character
    # What `aud` may be. Empty: the public URL of `/mcp`.
    audiences: tuple[Name, ...] = Field((), max_length=LIST_MAX)
    # The key set. Empty: the one that `<issuer>/.well-known/openid-configuration` names.
    jwks_uri: Url | Literal[""] = ""
    algorithms: tuple[Algorithm, ...] = Field(ALGORITHMS, min_length=1)
    types: tuple[str, ...] = Field(TYPES, max_length=LIST_MAX)  # what `typ` may be, in lower case
    tenant_claim: Name = "tid"
    scope_claim: Name = "scope"  # text with spaces, or a list
    # Values of the scope claim that have other names than `<prefix>read`.
    scopes: dict[Name, TokenScope] = Field({}, max_length=LIST_MAX)
    # The most that a token of this issuer may do, whatever it claims.
    scopes_max: frozenset[TokenScope] = frozenset({TokenScope.READ, TokenScope.WRITE, TokenScope.ADMIN})
    # Whether MCP clients are sent here to sign on. Off: for issuers of machines.
    sign_on: bool = True
    # The console as a client of the issuer. Empty: the sign-in page does not offer it.
    client_id: Name | Literal[""] = ""
    # What the console asks for. Empty: `openid <prefix>read <prefix>write`.
    client_scope: Name | Literal[""] = ""
