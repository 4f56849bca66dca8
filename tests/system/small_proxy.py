"""A reverse proxy in the test's own process. Like an ingress, it follows `/readyz` of the gateways."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import uvicorn

CHECK_EVERY_S = 0.1
ANSWER_SECONDS_MAX = 60
# Headers of one connection, which a proxy does not pass on.
HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"transfer-encoding"})


class _Balancer:
    """An ASGI app that sends each request to the next gateway that was ready at the last look."""

    def __init__(self, gateways: Sequence[str], http: httpx2.AsyncClient) -> None:
        self._gateways = gateways
        self._http = http
        self._ready: list[str] = []

    async def look(self) -> None:
        """Look at the gateways until cancelled."""
        while True:
            self._ready = [url for url in self._gateways if await self._is_ready(url)]
            await asyncio.sleep(CHECK_EVERY_S)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        body = await _body(receive)
        self._ready = [*self._ready[1:], *self._ready[:1]]
        # On a busy machine the last look is old, and a gateway may have become ready since.
        others = [url for url in self._gateways if url not in self._ready]
        for url in (*self._ready, *others):
            with suppress(httpx2.ConnectError):  # it has just ended: the request has not been sent
                await self._forward(url, scope, body, send)
                return
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b"no gateway is ready"})

    async def _forward(self, url: str, scope: Any, body: bytes, send: Any) -> None:
        target = f"{url}{scope['path']}?{scope['query_string'].decode()}"
        headers = [pair for pair in scope["headers"] if pair[0] not in HOP_BY_HOP]
        async with self._http.stream(scope["method"], target, content=body, headers=headers) as answer:
            kept = [pair for pair in answer.headers.raw if pair[0].lower() not in HOP_BY_HOP]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": kept})
            async for part in answer.aiter_raw():
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _is_ready(self, url: str) -> bool:
        try:
            return (await self._http.get(f"{url}/readyz")).is_success
        except httpx2.TransportError:
            return False


@asynccontextmanager
async def small_proxy(gateways: Sequence[str]) -> AsyncIterator[str]:
    """Yields the URL of a proxy in front of gateways."""
    # A connection per request: whether a kept one has just been closed is not the question here.
    limits = httpx2.Limits(max_keepalive_connections=0)
    async with httpx2.AsyncClient(limits=limits, timeout=ANSWER_SECONDS_MAX) as http:
        balancer = _Balancer(gateways, http)
        server = uvicorn.Server(
            uvicorn.Config(balancer, port=0, lifespan="off", log_config=None, access_log=False)
        )
        looking = asyncio.create_task(balancer.look())
        serving = asyncio.create_task(server._serve())  # without the handlers of signals
        while not server.started:
            await asyncio.sleep(CHECK_EVERY_S)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            looking.cancel()
            await serving


async def _body(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)
