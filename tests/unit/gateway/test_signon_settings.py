"""Settings of sign-on: what the gateway refuses to start with."""

import json

import pytest
from signon_provider import ISSUER

from prism_gateway.settings import GatewaySettings
from prism_gateway.signon.resource import Resource
from prism_runtime.settings import InvalidSettingsError

PUBLIC = "https://prism.example.com"


def test_issuers_are_read_from_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("PRISM_PUBLIC_URL", PUBLIC)
    monkeypatch.setenv("PRISM_JWT_ISSUERS", json.dumps([{"issuer": ISSUER, "scopes": {"dev": "write"}}]))
    (issuer,) = GatewaySettings().jwt_issuers
    assert issuer.issuer == ISSUER
    assert issuer.scopes == {"dev": "write"}
    assert "operator" not in issuer.scopes_max


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"jwt_issuers": [{"issuer": ISSUER}]}, "PRISM_PUBLIC_URL"),
        ({"public_url": PUBLIC, "jwt_issuers": [{"issuer": ISSUER}] * 2}, "twice"),
        ({"public_url": PUBLIC, "jwt_issuers": [{"issuer": f"{ISSUER}/{n}"} for n in range(17)]}, "16"),
        ({"public_url": PUBLIC, "jwt_issuers": [{}]}, "issuer"),
        ({"jwt_scope_prefix": 'a"b'}, "pattern"),
        ({"jwt_scope_prefix": "a b"}, "pattern"),
        ({"jwt_scope_prefix": "a\\b"}, "pattern"),
    ],
)
def test_a_mistake_stops_the_gateway(fields, problem) -> None:
    with pytest.raises(InvalidSettingsError, match=problem):
        GatewaySettings(**fields)


@pytest.mark.parametrize(
    ("url", "metadata"),
    [
        (f"{PUBLIC}/mcp", f"{PUBLIC}/.well-known/oauth-protected-resource/mcp"),
        (f"{PUBLIC}/a/b/mcp", f"{PUBLIC}/.well-known/oauth-protected-resource/a/b/mcp"),
        ("http://[::1]:8780/mcp", "http://[::1]:8780/.well-known/oauth-protected-resource/mcp"),
    ],
)
def test_the_metadata_of_a_resource_has_its_path(url, metadata) -> None:
    assert Resource(url, (ISSUER,), "prism.").metadata_url == metadata
