"""The HTTP side: an ASGI application that reads a request, finds its function and writes its answer.

It decides nothing about points. Every answer is JSON in Qdrant's envelope, errors too.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl, unquote

import orjson
import structlog

from prism_qdrant_local.errors import (
    Refusal,
    bad_request,
    damaged,
    is_damage,
    not_found,
    refusal_of_engine,
)
from prism_qdrant_local.metrics import Metrics
from prism_qdrant_local.routes import ROUTES, WRITES, Handler, Request
from prism_qdrant_local.settings import QdrantLocalSettings
from prism_qdrant_local.store import Store
from prism_runtime.room import Room

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# The version of Qdrant whose interface this server has.
QDRANT_VERSION = "1.20.0"
_VERSION = {"title": "qdrant - vector search engine", "version": QDRANT_VERSION, "commit": None}
_HEALTH = {
    "/healthz": b"healthz check passed",
    "/livez": b"livez check passed",
    "/readyz": b"readyz check passed",
}
_QUERY_PARAMETERS = frozenset({"wait", "ordering", "timeout", "consistency"})
_JSON = b"application/json"
_TEXT = b"text/plain; charset=utf-8"
# A body over the limit is read and dropped up to this multiple of the limit, so that its sender receives the
# refusal instead of a broken connection.
_DROPPED_BODY_FACTOR = 4

logger = structlog.stdlib.get_logger()


class App:
    """ASGI application over one store."""

    def __init__(self, store: Store, settings: QdrantLocalSettings) -> None:
        """Store the dependencies of requests."""
        self._store = store
        self._metrics = Metrics(store)
        self._room = Room(str(settings.data_dir), settings.disk_free_bytes_min)
        self._body_bytes_max = settings.max_body_bytes
        self._api_key = settings.api_key.get_secret_value().encode() if settings.api_key else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"only HTTP is served here, not {scope['type']}")
        started = perf_counter()
        method, path = scope["method"], scope["raw_path"].decode("latin-1")
        endpoint, handler, variables = _find_route(method, path)
        try:
            content_type, body = await self._answer(scope, receive, handler, variables, started)
            status = HTTPStatus.OK
        except Refusal as refusal:
            status, content_type, body = refusal.status, _JSON, _error_body(refusal, started)
        except Exception as error:  # the engine raises bare exceptions, and each needs a response
            answer = self._refusal(error, variables)
            status, content_type, body = answer.status, _JSON, _error_body(answer, started)
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                logger.exception("request failed", method=method, endpoint=endpoint)
        self._metrics.observe(method, endpoint, status, perf_counter() - started)
        await _send(send, status, content_type, body)

    def _refusal(self, error: BaseException, variables: tuple[str, ...]) -> Refusal:
        answer = refusal_of_engine(error)
        if variables and is_damage(error):
            return damaged(self._store.note_damage(variables[0], error))
        return answer

    async def _answer(
        self,
        scope: Scope,
        receive: Receive,
        handler: Handler | None,
        variables: tuple[str, ...],
        started: float,
    ) -> tuple[bytes, bytes]:
        path = scope["path"]
        if scope["method"] == "GET" and path in _HEALTH:
            return _TEXT, _HEALTH[path]
        if scope["method"] == "GET" and path == "/":
            return _JSON, orjson.dumps(_VERSION)
        headers = dict(scope["headers"])
        self._check_key(headers)
        if scope["method"] == "GET" and path == "/metrics":
            return _TEXT, self._metrics.render()
        if handler is None:
            raise not_found(f"{scope['method']} {path} is not served by this server")
        if handler in WRITES and self._room.is_critical():
            raise Refusal(HTTPStatus.INSUFFICIENT_STORAGE, "No space left: the disk is full")
        query = _read_query_string(scope["query_string"])
        content = _decode(headers, await self._read_body(headers, receive))
        result = await handler(Request(self._store, variables, query, content))
        return _JSON, orjson.dumps({"result": result, "status": "ok", "time": perf_counter() - started})

    def _check_key(self, headers: dict[bytes, bytes]) -> None:
        if self._api_key is None:
            return
        given = headers.get(b"api-key") or headers.get(b"authorization", b"").removeprefix(b"Bearer ")
        if not given:
            raise Refusal(HTTPStatus.UNAUTHORIZED, "Must provide an API key or an Authorization bearer token")
        if not hmac.compare_digest(given, self._api_key):
            raise Refusal(HTTPStatus.FORBIDDEN, "Invalid API key or JWT")

    async def _read_body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        chunks: list[bytes] = []
        read_bytes = 0
        announced_bytes = int(headers.get(b"content-length", b"0"))
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise bad_request("the client went away in the middle of its request")
            chunk = message.get("body", b"")
            read_bytes += len(chunk)
            if max(read_bytes, announced_bytes) <= self._body_bytes_max:
                chunks.append(chunk)
            else:
                chunks.clear()
            is_last = not message.get("more_body", False)
            if is_last or read_bytes > _DROPPED_BODY_FACTOR * self._body_bytes_max:
                break
        if max(read_bytes, announced_bytes) > self._body_bytes_max:
            raise Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"JSON payload is larger than allowed (limit: {self._body_bytes_max} bytes)",
            )
        return b"".join(chunks)


Tree = dict[str, Any]


def _build_tree() -> Tree:
    tree: Tree = {}
    for (method, path), handler in ROUTES.items():
        node = tree
        for part in path.split("/")[1:]:
            node = node.setdefault(part, {})
        node[f" {method}"] = (path, handler)
    return tree


_TREE = _build_tree()


def _find_route(method: str, path: str) -> tuple[str, Handler | None, tuple[str, ...]]:
    """Return the endpoint's pattern, function and variable parts. The path is split before it is unquoted."""
    node, variables = _TREE, []
    for part in path.split("/")[1:]:
        if part in node:
            node = node[part]
        elif "*" in node:
            node = node["*"]
            variables.append(unquote(part))
        else:
            return _other_endpoint(path), None, ()
    pattern, handler = node.get(f" {method}", (_other_endpoint(path), None))
    return pattern, handler, tuple(variables)


def _other_endpoint(path: str) -> str:
    return path if path in _HEALTH or path in {"/", "/metrics"} else "other"


def _read_query_string(text: bytes) -> dict[str, str]:
    query = dict(parse_qsl(text.decode("latin-1"), keep_blank_values=True))
    unknown = sorted(query.keys() - _QUERY_PARAMETERS)
    if unknown:
        raise bad_request(f"Wrong input: query parameter `{unknown[0]}` is not supported by this server")
    return query


def _decode(headers: dict[bytes, bytes], body: bytes) -> object:
    if not body:
        return None
    # A web page can send other types across origins without asking first.
    if not headers.get(b"content-type", b"").startswith(_JSON):
        raise Refusal(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Content type error: the body must be application/json"
        )
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"Format error in JSON body: {error}") from error


def _error_body(refusal: Refusal, started: float) -> bytes:
    return orjson.dumps({"status": {"error": str(refusal)}, "time": perf_counter() - started})


async def _send(send: Send, status: int, content_type: bytes, body: bytes) -> None:
    headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
