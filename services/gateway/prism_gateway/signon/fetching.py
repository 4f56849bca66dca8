"""Gets the documents of identity providers: JSON over https, from public addresses, small and soon.

Follows no redirect. The addresses that were checked are the ones that are connected to.
"""

import asyncio
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

import httpx2

from prism_runtime import tracing
from prism_source.clone_url import IpAddress, is_public

BYTES_MAX: Final = 256 * 1024
SECONDS_MAX: Final = 5.0
OK: Final = 200
BAD_REQUEST: Final = 400
UNAUTHORIZED: Final = 401
PORTS = {"https": 443, "http": 80}

Resolve = Callable[[str, int], Awaitable[list[IpAddress]]]


async def resolve(host: str, port: int) -> list[IpAddress]:
    """Returns the addresses of a host."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    return list(dict.fromkeys(addresses))


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Connects to the checked addresses of a host, as the host: its name is in `Host` and in TLS."""

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, *, allow_private: bool, resolve: Resolve = resolve
    ) -> None:
        self._inner = inner
        self._allow_private = allow_private
        self._resolve = resolve

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first address that accepts it. Raises ValueError for a refused one."""
        url = request.url
        if url.scheme != "https" and not (self._allow_private and url.scheme == "http"):
            raise ValueError("its URL is not https, and PRISM_JWT_ALLOW_PRIVATE is not set")
        addresses = await self._resolve(url.host, url.port or PORTS[url.scheme])
        # One private address is enough to refuse, because any of them might be used.
        if not addresses or not (self._allow_private or all(map(is_public, addresses))):
            raise ValueError("its host is in a private network, and PRISM_JWT_ALLOW_PRIVATE is not set")
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        for address in addresses[:-1]:
            request.url = url.copy_with(host=str(address))
            try:
                return await self._inner.handle_async_request(request)
            except httpx2.ConnectError:
                continue
        request.url = url.copy_with(host=str(addresses[-1]))
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class JsonFetcher:
    """Fetches JSON objects."""

    def __init__(
        self,
        *,
        allow_private: bool,
        transport: httpx2.AsyncBaseTransport | None = None,
        resolve: Resolve = resolve,
    ) -> None:
        # Hosts may share an address. A kept connection was verified for one of them only.
        inner = transport or httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0))
        self._http = httpx2.AsyncClient(
            transport=CheckedTransport(inner, allow_private=allow_private, resolve=resolve),
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            follow_redirects=False,
            timeout=SECONDS_MAX,
        )

    async def get(self, url: str) -> dict[str, Any]:
        """Returns the object at a URL. Raises ValueError, TimeoutError, httpx2.HTTPError."""
        # The URL is not in the span: a provider may put a secret into it.
        with tracing.span("get provider document", kind=tracing.CLIENT):
            return await self._get(url)

    async def post(self, url: str, form: Mapping[str, str], login: tuple[str, str] | None) -> dict[str, Any]:
        """Send a form, and return the object that answers it, also with an error of OAuth.

        Raises ValueError, TimeoutError, httpx2.HTTPError.
        """
        with tracing.span("ask provider for token", kind=tracing.CLIENT):
            request = self._http.build_request("POST", url, data=dict(form))
            return await self._answer(request, frozenset({OK, BAD_REQUEST, UNAUTHORIZED}), login)

    async def _get(self, url: str) -> dict[str, Any]:
        return await self._answer(self._http.build_request("GET", url), frozenset({OK}))

    async def _answer(
        self, request: httpx2.Request, statuses: AbstractSet[int], login: tuple[str, str] | None = None
    ) -> dict[str, Any]:
        auth = httpx2.BasicAuth(*login) if login else None
        async with asyncio.timeout(SECONDS_MAX):
            reply = await self._http.send(request, auth=auth, stream=True)
            try:
                return await self._read(reply, statuses)
            finally:
                await reply.aclose()

    async def _read(self, reply: httpx2.Response, statuses: AbstractSet[int]) -> dict[str, Any]:
        if reply.status_code not in statuses:
            raise ValueError(f"status {reply.status_code}")
        if reply.headers.get("content-encoding", "identity") != "identity":
            raise ValueError("it is compressed")
        body = bytearray()
        async for part in reply.aiter_raw():
            body += part
            if len(body) > BYTES_MAX:
                raise ValueError(f"it is larger than {BYTES_MAX} bytes")
        found = json.loads(body)
        if not isinstance(found, dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004 - a document, not an argument
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
