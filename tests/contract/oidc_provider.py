"""An OpenID provider over HTTP: oidc-provider-mock, with what an MCP authorization server needs and it lacks.

Added: JWT access tokens (RFC 9068) for the requested `resource`, PKCE, public clients that refresh, scopes of
Prism, rotation of keys, the issuer in the answer (RFC 9207), an end and a new start on the same port.
`python oidc_provider.py --tenant acme --port 9400` serves one until Ctrl-C.
"""

import argparse
import json
import os
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

# The provider of the tests speaks plain HTTP.
os.environ.setdefault("AUTHLIB_INSECURE_TRANSPORT", "1")

import flask
import httpx2
import werkzeug.serving
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import oidc_provider_mock
    from oidc_provider_mock import _app as mock
    from oidc_provider_mock._storage import Client

SUBJECT = "alice"
SCOPES = ("openid", "offline_access", "prism.read", "prism.write")
CODE_SECONDS = 3600
METADATA = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
REDIRECT_URI = "http://127.0.0.1:3333/callback"


class _Grants:
    """The grants of the mock, with PKCE, and for public clients."""

    def __init__(self, provider: "OidcProvider") -> None:
        challenges: dict[str, str] = {}
        storage = provider.storage

        class Code(mock.AuthorizationCodeGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

            def save_authorization_code(self, code: str, request: Any) -> None:
                super().save_authorization_code(code, request)
                challenges[code] = request.payload.data.get("code_challenge")

            def query_authorization_code(self, code: str, client: Client) -> Any:
                found = super().query_authorization_code(code, client)
                if found is not None:
                    object.__setattr__(found, "code_challenge", challenges[code])
                    object.__setattr__(found, "code_challenge_method", "S256")
                return found

        class Refresh(mock.RefreshTokenGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
            INCLUDE_NEW_REFRESH_TOKEN = True

            def revoke_old_credential(self, refresh_token: Any) -> None:
                super().revoke_old_credential(refresh_token)
                storage.remove_refresh_token(refresh_token.token)

        self.code, self.refresh = Code, Refresh


class OidcProvider:
    """A provider on a port of its own, which is down until `start`."""

    def __init__(self, *, tenant: str = "acme", algorithm: str = "RS256", port: int = 0) -> None:
        self.tenant = tenant
        self.algorithm = algorithm
        self.token_seconds = 3600
        self.keys: list[RSAKey | ECKey] = []
        self.requests: list[tuple[str, str]] = []
        Client.SCOPES_SUPPORTED = SCOPES
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.app = mock.app(
                require_client_registration=True, user_claims=[oidc_provider_mock.User(sub=SUBJECT)]
            )
        with self.app.test_request_context():
            self.app.preprocess_request()
            self.storage = flask.g.oidc_provider_mock_storage
            self._server = flask.g._authlib_authorization_server
        self._extend()
        self.rotate()
        with socket.create_server(("127.0.0.1", port)) as listener:
            self.port = listener.getsockname()[1]
        self.issuer = f"http://127.0.0.1:{self.port}"
        self._running: tuple[Any, threading.Thread] | None = None

    def start(self) -> None:
        server = werkzeug.serving.make_server("127.0.0.1", self.port, self.app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        self._running = server, thread

    def stop(self) -> None:
        if self._running:
            server, thread = self._running
            server.shutdown()
            thread.join()
            server.server_close()
            self._running = None

    @property
    def key(self) -> RSAKey | ECKey:
        return self.keys[-1]

    @property
    def key_fetches(self) -> int:
        return self.requests.count(("GET", "/jwks"))

    def rotate(self, *, keep: int = 1) -> None:
        """Signs with a new key, and still publishes the last `keep` keys."""
        made = (
            RSAKey.generate_key(2048, auto_kid=True)
            if self.algorithm == "RS256"
            else ECKey.generate_key("P-256", auto_kid=True)
        )
        self.keys = [*self.keys[len(self.keys) - keep :], made]
        if isinstance(made, RSAKey):  # ID tokens are signed by the mock itself
            self.storage.jwk = mock.jose.RSAKey.import_key(made.as_dict(private=True))

    def token(self, audience: str, **claims: Any) -> str:
        """Returns an access token, as for a machine."""
        now = int(time.time())
        made = {
            "iss": self.issuer,
            "aud": audience,
            "sub": SUBJECT,
            "tid": self.tenant,
            "scope": "prism.read",
            "iat": now,
            "exp": now + self.token_seconds,
            "jti": str(uuid.uuid4()),
        } | claims
        head = {"alg": self.algorithm, "kid": self.key.kid, "typ": "at+jwt"}
        return jwt.encode(head, made, self.key, algorithms=[self.algorithm])

    def _extend(self) -> None:
        grants = _Grants(self)
        self._server._authorization_grants.clear()
        self._server._token_grants.clear()
        self._server.register_grant(grants.refresh)
        openid = mock.OpenIDCode(require_nonce=False, token_max_age=mock.timedelta(seconds=CODE_SECONDS))
        self._server.register_grant(grants.code, [openid, CodeChallenge(required=True)])
        self._server.register_token_generator(
            "default",
            BearerTokenGenerator(
                self._access_token,
                lambda *_, **__: uuid.uuid4().hex,
                lambda *_, **__: self.token_seconds,
            ),
        )
        # A client registers with the scopes of its first challenge. Holding it to them would forbid more.
        store = self.storage.store_client

        def store_client(client: Client) -> None:
            object.__setattr__(client, "allowed_scopes", SCOPES)
            store(client)

        self.storage.store_client = store_client
        self.app.after_request(self._amended)

    def _access_token(self, client: Client, grant_type: str, user: Any, scope: str) -> str:
        resource = flask.request.form.get("resource") or "no-resource"
        return self.token(resource, sub=user.sub, scope=scope or "", client_id=client.get_client_id())

    def _amended(self, response: Any) -> Any:
        path = flask.request.path
        self.requests.append((flask.request.method, path))
        if path in METADATA and response.status_code == 200:
            more = {
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
                "token_endpoint_auth_methods_supported": AUTH_METHODS,
            }
            response.set_data(json.dumps(response.get_json() | more))
        if path == "/jwks":
            public = [key.as_dict(private=False) | {"use": "sig", "alg": self.algorithm} for key in self.keys]
            response.set_data(json.dumps({"keys": public}))
        if path == "/oauth2/authorize" and response.status_code == 302:
            response.headers["Location"] += f"&iss={self.issuer}"
        return response


@contextmanager
def running(**options: Any) -> Iterator[OidcProvider]:
    provider = OidcProvider(**options)
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()


class Person:
    """A person with a browser and an MCP client: opens the page of the provider, and presses the button."""

    def __init__(self, resource: str) -> None:
        self.pages: list[str] = []
        self.tokens: Any = None
        self.client: Any = None
        self._answer: AuthorizationCodeResult | None = None
        metadata = OAuthClientMetadata(
            client_name="agent",
            redirect_uris=[REDIRECT_URI],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",
        )
        self.auth = OAuthClientProvider(resource, metadata, self, self._open, self._answered)

    @property
    def asked(self) -> list[dict[str, str]]:
        """What each page of the provider was asked for."""
        return [
            {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
            for page in self.pages
        ]

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client: Any) -> None:
        self.client = client

    async def _open(self, url: str) -> None:
        self.pages.append(url)
        async with httpx2.AsyncClient() as http:
            page = await http.post(url, data={"sub": SUBJECT})
        assert page.status_code == 302, page.text[:300]
        query = parse_qs(urlsplit(page.headers["location"]).query)
        assert "code" in query, query
        self._answer = AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query["iss"][0]
        )

    async def _answered(self) -> AuthorizationCodeResult:
        assert self._answer
        return self._answer


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve an OpenID provider on this machine, for trials.")
    parser.add_argument("--tenant", default="acme", help="the claim tid of its tokens")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    given = parser.parse_args()
    with running(tenant=given.tenant, port=given.port) as provider:
        print(f"The provider is at {provider.issuer}. Stop it with Ctrl-C.", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
