"""Sign-in to the console through a real OpenID provider, as a browser does it."""

import base64
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from gateway_stack import Stack, digest_of
from oidc_provider import SUBJECT, Client, OidcProvider, running

from prism_contracts import names
from prism_contracts.records import Session, Tenant
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

CLIENT = "prism-console"
SECRET = "secret-of-the-console"


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with running() as found:
        yield found


@pytest.fixture
def start(make_stack, provider: OidcProvider):
    """Starts a gateway whose console is a client of the provider."""

    async def make(*, fields: dict | None = None, **settings: object) -> Stack:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        register(provider, f"{url}/login/done", secret=str(settings.get("console_client_secret", "")))
        issuer = {"issuer": provider.issuer, "client_id": CLIENT} | (fields or {})
        stack = await make_stack(
            port=port, public_url=url, jwt_issuers=[issuer], jwt_allow_private=True, **settings
        )
        await set_tenant(stack)
        return stack

    return make


def register(provider: OidcProvider, redirect_uri: str, *, secret: str) -> None:
    provider.storage.store_client(
        Client(
            id=CLIENT,
            secret=secret or "unused",
            redirect_uris=[redirect_uri],
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            allowed_scopes=(),
        )
    )


async def set_tenant(stack: Stack, *, is_active: bool = True) -> None:
    bucket = Records(await open_bucket(stack.bus.js, names.KV_TENANTS), Tenant)
    made = Tenant(
        tenant="acme", plan="laptop", created_at=datetime(2026, 1, 1, tzinfo=UTC), is_active=is_active
    )
    await bucket.put("acme", made)


def browser(stack: Stack) -> httpx2.AsyncClient:
    """Returns a browser without a token, which follows no redirect by itself."""
    return httpx2.AsyncClient(base_url=stack.url)


async def at_provider(http: httpx2.AsyncClient, wanted: str = "/search") -> str:
    """Press the button of the console; returns the address of the provider's page."""
    page = await http.get("/login", params={"next": wanted})
    assert "Sign in with 127.0.0.1" in page.text
    sent = await http.get("/login/provider/0", params={"next": wanted})
    assert sent.status_code == 303, sent.text
    return sent.headers["location"]


async def back(url: str) -> str:
    """Press the button of the provider; returns the address that it sends the browser back to."""
    async with httpx2.AsyncClient() as http:
        page = await http.post(url, data={"sub": SUBJECT})
    assert page.status_code == 302, page.text
    return page.headers["location"]


async def sign_in(http: httpx2.AsyncClient) -> httpx2.Response:
    return await http.get(await back(await at_provider(http)))


@pytest.mark.parametrize("secret", ["", SECRET])
async def test_a_person_signs_in_and_sees_what_the_scopes_allow(start, provider, secret: str) -> None:
    stack = await start(console_client_secret=secret)
    async with browser(stack) as http:
        url = await at_provider(http)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["scope"] == "openid prism.read prism.write"
        assert (asked["resource"], asked["code_challenge_method"]) == (f"{stack.url}/mcp", "S256")
        done = await http.get(await back(url))
        assert (done.status_code, done.headers["location"]) == (303, "/search")
        assert "prism_sign_in" not in http.cookies
        page = await http.get("/repos")
        assert page.status_code == 200
        assert SUBJECT in page.text
        assert (await http.get("/audit")).status_code == 403  # needs admin
    bucket = await stack.bus.js.key_value(names.KV_SESSIONS)
    (key,) = await bucket.keys()
    stored = json.loads((await bucket.get(key)).value)
    assert stored["person"]["tenant"] == "acme"
    assert "eyJ" not in json.dumps(stored)  # no token of the provider is kept


async def test_a_code_of_another_browser_signs_nobody_in(start) -> None:
    stack = await start()
    async with browser(stack) as mine, browser(stack) as theirs:
        answer = await back(await at_provider(mine))
        refused = await theirs.get(answer)
        assert refused.status_code == 403
        assert "begun elsewhere" in refused.text
        await at_provider(theirs)  # another attempt, with another state
        assert (await theirs.get(answer)).status_code == 403
        # With the state, the code is still bound to the verifier of the browser that began.
        state = parse_qs(urlsplit(answer).query)["state"][0]
        attempt = json.loads(base64.urlsafe_b64decode(theirs.cookies["prism_sign_in"])) | {"state": state}
        forged = base64.urlsafe_b64encode(json.dumps(attempt).encode()).decode()
        theirs.cookies.set("prism_sign_in", forged, domain="127.0.0.1", path="/")
        assert (await theirs.get(answer)).status_code == 403
        assert "prism_session" not in theirs.cookies


@pytest.mark.parametrize(
    "cookie", ["", "x", "e30=", "W10=", base64.urlsafe_b64encode(b'{"issuer": 1}').decode(), "A" * 5_000]
)
async def test_an_attempt_that_cannot_be_read_is_refused(start, cookie: str) -> None:
    stack = await start()
    async with browser(stack) as http:
        http.cookies.set("prism_sign_in", cookie, domain="127.0.0.1", path="/")
        refused = await http.get("/login/done", params={"code": "c", "state": ""})
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


async def test_a_refusal_of_the_provider_is_shown_as_text(start) -> None:
    stack = await start()
    async with browser(stack) as http:
        state = parse_qs(urlsplit(await at_provider(http)).query)["state"][0]
        answer = {"state": state, "error": "access_denied", "error_description": "<script>no</script>"}
        refused = await http.get("/login/done", params=answer)
    assert refused.status_code == 403
    assert "&lt;script&gt;no" in refused.text
    assert "<script>no" not in refused.text


async def test_a_session_ends_with_its_tenant_its_issuer_and_its_time(start, make_stack, provider) -> None:
    stack = await start(console_session_s=60)
    async with browser(stack) as http:
        assert (await sign_in(http)).status_code == 303
        records = Records(await open_bucket(stack.bus.js, names.KV_SESSIONS), Session)
        key = digest_of(http.cookies["prism_session"])
        session = await records.get(key)
        assert session.ends_at - session.made_at == timedelta(seconds=60)
        await set_tenant(stack, is_active=False)
        while (await http.get("/repos")).status_code == 200:
            pass
        await set_tenant(stack)
        while (await http.get("/repos")).status_code != 200:
            pass
        elsewhere = session.person.model_copy(update={"issuer": "https://gone.example.com"})
        await records.put(key, session.model_copy(update={"person": elsewhere}))
        assert (await http.get("/repos")).status_code == 303


async def test_a_person_never_has_more_scopes_than_the_issuer_may_give(start) -> None:
    stack = await start(fields={"scopes_max": ["read"]})
    async with browser(stack) as http:
        await sign_in(http)
        assert (await http.get("/repos")).status_code == 200
        added = await http.post(
            "/repos/new", data={"url": "https://x.dev/a.git"}, headers={"Sec-Fetch-Site": "same-origin"}
        )
    assert added.status_code == 403


async def test_a_provider_with_audiences_of_its_own_gets_no_resource(start) -> None:
    stack = await start(fields={"audiences": ["no-resource"], "client_scope": "openid prism.read"})
    async with browser(stack) as http:
        url = await at_provider(http)
        assert "resource" not in url
        assert (await http.get(await back(url))).status_code == 303
        assert (await http.get("/repos")).status_code == 200


async def test_a_person_of_an_unknown_tenant_is_refused(start, provider) -> None:
    stack = await start()
    provider.tenant = "unknown"
    async with browser(stack) as http:
        refused = await sign_in(http)
    assert refused.status_code == 403
    assert "does not admit you" in refused.text


async def test_a_provider_that_is_down_is_named(start, provider) -> None:
    stack = await start()
    provider.stop()
    async with browser(stack) as http:
        answer = await http.get("/login/provider/0")
        assert answer.status_code == 503
        assert "cannot be asked" in answer.text
        assert (await http.get("/login/provider/7")).status_code == 400


async def test_no_button_without_a_client(start, stack: Stack) -> None:
    async with browser(stack) as http:
        assert "Sign in with" not in (await http.get("/login")).text
        assert (await http.get("/login/done")).status_code == 404
