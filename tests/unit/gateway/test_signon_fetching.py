"""Documents of identity providers: which hosts are asked, and how much is read."""

import gzip
import ipaddress
import json
from collections.abc import AsyncIterator

import httpx2
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from prism_gateway.signon.fetching import BYTES_MAX, JsonFetcher
from prism_runtime import tracing
from prism_runtime.exporting import span_provider
from prism_runtime.settings import ServiceSettings

PUBLIC, SECOND, PRIVATE = "93.184.216.34", "2606:2800:220:1::1", "10.0.0.7"


class Hosts:
    """Resolves every host to these addresses, and records who was connected to."""

    def __init__(self, *addresses: str, status: int = 200, content: bytes = b"{}", **headers: str) -> None:
        self.addresses = addresses
        self.status, self.content, self.headers = status, content, headers
        self.requests: list[tuple[str, str, str]] = []
        self.closed: set[str] = set()

    async def resolve(self, host: str, port: int) -> list:
        return [ipaddress.ip_address(address) for address in self.addresses]

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        if host in self.closed:
            raise httpx2.ConnectError("refused")
        self.requests.append((host, request.headers["host"], request.extensions["sni_hostname"]))
        return httpx2.Response(self.status, content=self.parts(), headers=self.headers)

    async def parts(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.content), 1000):
            yield self.content[start : start + 1000]

    def fetcher(self, *, allow_private: bool = False) -> JsonFetcher:
        transport = httpx2.MockTransport(self.answer)
        return JsonFetcher(allow_private=allow_private, transport=transport, resolve=self.resolve)


async def test_the_checked_address_is_connected_to_as_the_host() -> None:
    hosts = Hosts(PUBLIC)
    assert await hosts.fetcher().get("https://login.example.com/keys") == {}
    assert hosts.requests == [(PUBLIC, "login.example.com", "login.example.com")]


async def test_a_fetch_has_a_span_without_its_url() -> None:
    exporter = InMemorySpanExporter()
    provider = span_provider("test", ServiceSettings())
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    try:
        await Hosts(PUBLIC).fetcher().get("https://login.example.com/keys?code=a-secret")
    finally:
        tracing.use(None)
    (span,) = exporter.get_finished_spans()
    assert span.name == "get provider document"
    assert "a-secret" not in span.to_json()


async def test_the_next_address_is_tried() -> None:
    hosts = Hosts(SECOND, PUBLIC)
    hosts.closed = {SECOND}
    assert await hosts.fetcher().get("https://login.example.com:8443/keys") == {}
    assert hosts.requests == [(PUBLIC, "login.example.com:8443", "login.example.com")]
    hosts.closed = {SECOND, PUBLIC}
    with pytest.raises(httpx2.ConnectError):
        await hosts.fetcher().get("https://login.example.com/keys")


@pytest.mark.parametrize(
    "addresses",
    [(PRIVATE,), (PUBLIC, PRIVATE), ("127.0.0.1",), ("169.254.169.254",), ("::1",), ("::ffff:10.0.0.7",), ()],
)
async def test_private_networks_are_refused_unless_allowed(addresses) -> None:
    hosts = Hosts(*addresses)
    with pytest.raises(ValueError, match="PRISM_JWT_ALLOW_PRIVATE"):
        await hosts.fetcher().get("https://login.example.com/keys")
    assert not hosts.requests
    if addresses:
        assert await hosts.fetcher(allow_private=True).get("https://login.example.com/keys") == {}


async def test_plain_http_is_refused_unless_private_networks_are_allowed() -> None:
    hosts = Hosts(PUBLIC)
    with pytest.raises(ValueError, match="not https"):
        await hosts.fetcher().get("http://login.example.com/keys")
    assert await hosts.fetcher(allow_private=True).get("http://login.example.com/keys") == {}


@pytest.mark.parametrize("scheme", ["file", "ftp", "unix", ""])
async def test_other_schemes_are_refused(scheme) -> None:
    for allow_private in (True, False):
        with pytest.raises((ValueError, httpx2.UnsupportedProtocol)):
            await Hosts(PUBLIC).fetcher(allow_private=allow_private).get(f"{scheme}://host/keys")


@pytest.mark.parametrize("status", [201, 204, 301, 302, 307, 308, 401, 404, 500, 503])
async def test_redirects_and_errors_are_not_read(status) -> None:
    hosts = Hosts(PUBLIC, status=status, Location="https://10.0.0.7/keys")
    with pytest.raises(ValueError, match=f"status {status}"):
        await hosts.fetcher().get("https://login.example.com/keys")
    assert len(hosts.requests) == 1


async def test_a_document_is_read_up_to_its_limit() -> None:
    def document(size: int) -> bytes:
        empty = json.dumps({"x": ""}).encode()
        return json.dumps({"x": "a" * (size - len(empty))}).encode()

    hosts = Hosts(PUBLIC, content=document(BYTES_MAX))
    assert await hosts.fetcher().get("https://login.example.com/keys")
    hosts = Hosts(PUBLIC, content=document(BYTES_MAX + 1))
    with pytest.raises(ValueError, match="larger"):
        await hosts.fetcher().get("https://login.example.com/keys")


@pytest.mark.parametrize("content", [b"", b"[]", b"7", b"null", b"<html>", b"\xff\xfe"])
async def test_a_document_that_is_no_object_is_refused(content) -> None:
    hosts = Hosts(PUBLIC, content=content)
    with pytest.raises(ValueError, match=r"."):
        await hosts.fetcher().get("https://login.example.com/keys")


async def test_a_compressed_document_is_refused() -> None:
    hosts = Hosts(PUBLIC, content=gzip.compress(b"{}"), **{"Content-Encoding": "gzip"})
    with pytest.raises(ValueError, match="compressed"):
        await hosts.fetcher().get("https://login.example.com/keys")
