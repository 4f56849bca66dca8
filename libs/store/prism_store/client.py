"""The client of Qdrant, with a fast path for the most frequent calls.

`qdrant_client` validates every number of every vector and every field of every reply as a model. This takes
48 us per chunk to write, and for a query more than the server needs to answer it. The fast path sends and
receives plain JSON over aiohttp, which costs a quarter of httpx per request. Both paths raise the exceptions
of `qdrant_client`.
"""

import asyncio
import ssl
import time
from collections.abc import Mapping
from typing import Any

import aiohttp
import httpx
import orjson
from pydantic import BaseModel
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from prism_store.metrics import StoreMetrics
from prism_store.settings import StoreSettings

CONNECTIONS_MAX = 32
# Qdrant and its local server close connections after 5 s of idling, so one that may be closing is not reused.
IDLE_CONNECTION_S = 2.0
ATTEMPTS = 2
# The connection broke; the next one may work.
BROKEN = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
# How long a call waits for a server that refuses connections: one that restarts is back within seconds, and of
# a cluster another node takes its place.
RESTART_S = 8.0
RESTART_PAUSE_S = 0.1
HTTP_ERROR = 400
HTTP_TOO_MANY_REQUESTS = 429


class StoreClient(AsyncQdrantClient):
    """The library's client, with the fast calls `ask`, `put_points` and `delete_points`."""

    def __init__(self, settings: StoreSettings, metrics: StoreMetrics) -> None:
        self.metrics = metrics
        # The libraries' own contexts are slow to build, and HTTP needs none.
        self._tls: ssl.SSLContext | bool = settings.tls() if settings.url.startswith("https://") else True
        super().__init__(
            url=settings.url,
            verify=self._tls,
            api_key=settings.api_key.get_secret_value() or None,
            timeout=settings.timeout_s,
            check_compatibility=False,
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX),
        )
        self.settings = settings
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, collection: str, what: str, body: Mapping[str, Any]) -> Any:
        """Returns the `result` of POST /collections/{collection}/{what}.

        Serializes models in the body as JSON.
        """
        return await self._call("POST", f"/collections/{collection}/{what}", body)

    async def put_points(self, collection: str, points: list[dict[str, Any]], update_filter: Any) -> None:
        """Insert new points, and replace existing ones that match the filter. Returns when the write is done.

        A vector may be a row of a matrix.
        """
        # Without `wait`, the reply comes before the write is done.
        path = f"/collections/{collection}/points?wait=true"
        await self._call("PUT", path, {"points": points, "update_filter": update_filter})

    async def delete_points(self, collection: str, matching: Any) -> None:
        """Delete all points that match the filter. Returns when the write is done."""
        await self._call("POST", f"/collections/{collection}/points/delete?wait=true", {"filter": matching})

    async def close(self, grpc_grace: float | None = None, **kwargs: Any) -> None:
        """Close the connections of both paths."""
        if self._session is not None:
            await self._session.close()
        await super().close(grpc_grace, **kwargs)

    async def _call(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        data = orjson.dumps(body, default=_json, option=orjson.OPT_SERIALIZE_NUMPY)
        url = self.settings.url.rstrip("/") + path
        refused_until = time.monotonic() + RESTART_S
        attempts = 0
        while True:
            try:
                return await self._send(method, url, data)
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                if _is_refused(error) and time.monotonic() < refused_until:
                    await asyncio.sleep(RESTART_PAUSE_S)
                    continue
                # All calls of this path are idempotent, so they can be sent twice.
                attempts += 1
                if attempts == ATTEMPTS or not isinstance(error, BROKEN) or _is_refused(error):
                    raise ResponseHandlingException(error) from error

    async def _send(self, method: str, url: str, data: bytes) -> Any:
        async with self._connections().request(method, url, data=data) as answer:
            content = await answer.read()
        if answer.status >= HTTP_ERROR:
            raise _error_of(answer, content)
        return orjson.loads(content)["result"]

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json"}
            if key := self.settings.api_key.get_secret_value():
                headers["api-key"] = key
            self._session = aiohttp.ClientSession(
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=self.settings.timeout_s),
                connector=aiohttp.TCPConnector(
                    limit=CONNECTIONS_MAX, keepalive_timeout=IDLE_CONNECTION_S, ssl=self._tls
                ),
            )
        return self._session


def _is_refused(error: Exception) -> bool:
    """Returns whether no server listened, so that the request reached none."""
    return isinstance(error, aiohttp.ClientConnectorError) and isinstance(
        error.os_error, ConnectionRefusedError
    )


def _json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _error_of(answer: aiohttp.ClientResponse, content: bytes) -> Exception:
    retry_after_s = answer.headers.get("Retry-After")
    if answer.status == HTTP_TOO_MANY_REQUESTS and retry_after_s:
        return ResourceExhaustedResponse(content.decode(errors="replace"), int(retry_after_s))
    return UnexpectedResponse(
        answer.status, answer.reason or "", content, httpx.Headers(dict(answer.headers))
    )
