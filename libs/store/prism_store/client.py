"""The client of Qdrant, with a short way for the calls that are made all the time.

`qdrant_client` checks every number of every vector and every field of every answer as a model: 48 us a chunk to write
it, and more to ask than the server takes to answer. Here JSON goes out and comes back as it is, over aiohttp, which
costs a quarter of httpx a request. Trouble is told by the exceptions of `qdrant_client`, whichever way was taken.
"""

from collections.abc import Mapping
from typing import Any

import aiohttp
import httpx
import orjson
from pydantic import BaseModel
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from prism_store.settings import StoreSettings

CONNECTIONS_MAX = 32
# Qdrant and its local server close a connection that was idle for 5 s: one that may be closing is not used again.
IDLE_CONNECTION_S = 2.0
ATTEMPTS = 2
# The connection broke, which says nothing about the next one.
BROKEN = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
HTTP_ERROR = 400
HTTP_TOO_MANY_REQUESTS = 429


class StoreClient(AsyncQdrantClient):
    """Everything that the library's client does, and `ask`, `put_points` and `delete_points`."""

    def __init__(self, settings: StoreSettings) -> None:
        super().__init__(
            url=settings.url,
            api_key=settings.api_key or None,
            timeout=settings.timeout_s,
            check_compatibility=False,
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX),
        )
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, collection: str, what: str, body: Mapping[str, Any]) -> Any:
        """The `result` of POST /collections/{collection}/{what}. Models within the body are written as JSON."""
        return await self._call("POST", f"/collections/{collection}/{what}", body)

    async def put_points(self, collection: str, points: list[dict[str, Any]], update_filter: Any) -> None:
        """Insert points, and replace those that meet the filter; returns when that is done.

        A vector may be a row of a matrix.
        """
        # `wait`: without it the answer comes before the effect.
        path = f"/collections/{collection}/points?wait=true"
        await self._call("PUT", path, {"points": points, "update_filter": update_filter})

    async def delete_points(self, collection: str, matching: Any) -> None:
        """Delete all points that meet the filter; returns when that is done."""
        await self._call("POST", f"/collections/{collection}/points/delete?wait=true", {"filter": matching})

    async def close(self, grpc_grace: float | None = None, **kwargs: Any) -> None:
        """Close the connections of both ways."""
        if self._session is not None:
            await self._session.close()
        await super().close(grpc_grace, **kwargs)

    async def _call(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        data = orjson.dumps(body, default=_json, option=orjson.OPT_SERIALIZE_NUMPY)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._send(method, self._settings.url.rstrip("/") + path, data)
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                # Whatever is sent here may be sent twice.
                if attempt == ATTEMPTS or not isinstance(error, BROKEN):
                    raise ResponseHandlingException(error) from error
        raise AssertionError

    async def _send(self, method: str, url: str, data: bytes) -> Any:
        async with self._connections().request(method, url, data=data) as answer:
            content = await answer.read()
        if answer.status >= HTTP_ERROR:
            raise _refused(answer, content)
        return orjson.loads(content)["result"]

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json"}
            if self._settings.api_key:
                headers["api-key"] = self._settings.api_key
            self._session = aiohttp.ClientSession(
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=self._settings.timeout_s),
                connector=aiohttp.TCPConnector(limit=CONNECTIONS_MAX, keepalive_timeout=IDLE_CONNECTION_S),
            )
        return self._session


def _json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _refused(answer: aiohttp.ClientResponse, content: bytes) -> Exception:
    retry_after_s = answer.headers.get("Retry-After")
    if answer.status == HTTP_TOO_MANY_REQUESTS and retry_after_s:
        return ResourceExhaustedResponse(content.decode(errors="replace"), int(retry_after_s))
    return UnexpectedResponse(
        answer.status, answer.reason or "", content, httpx.Headers(dict(answer.headers))
    )
