"""Qdrant's REST API as the pinned `qdrant-client` declares it, and a proxy that refuses everything else.

The client's `http` package is generated from Qdrant's OpenAPI document. Its models forbid unknown fields, so
a request that passes here has only fields that a Qdrant server of that version knows.
"""

import asyncio
import importlib
import inspect
import json
import pkgutil
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin
from urllib.parse import parse_qsl

import aiohttp
from aiohttp import web
from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client.http import api

SESSION = web.AppKey("session", aiohttp.ClientSession)
BODY_BYTES_MAX = 256 * 1024 * 1024
# What a hop may not pass on, and what aiohttp writes itself.
HOP_HEADERS = {"connection", "content-encoding", "content-length", "host", "transfer-encoding"}


class Endpoint(NamedTuple):
    """An operation of the API: its path as a pattern, its query parameters, and the type of its body."""

    method: str
    template: str
    pattern: re.Pattern[str]
    parameters: frozenset[str]
    body: TypeAdapter[Any] | None


class Exchange(NamedTuple):
    """A request and the status of its answer."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    status: int


def read_endpoints() -> tuple[Endpoint, ...]:
    """Returns all operations of the API. Paths without variables come first."""
    found = [
        _endpoint(build)
        for module in pkgutil.iter_modules(api.__path__)
        for _, cls in inspect.getmembers(
            importlib.import_module(f"{api.__name__}.{module.name}"), inspect.isclass
        )
        if cls.__module__ == f"{api.__name__}.{module.name}"
        for name, build in inspect.getmembers(cls, inspect.isfunction)
        if name.startswith("_build_for_")
    ]
    return tuple(sorted(found, key=lambda endpoint: endpoint.template.count("{")))


def _endpoint(build: Any) -> Endpoint:
    source = inspect.getsource(build)
    (method,) = re.findall(r'method="(\w+)"', source)
    (template,) = re.findall(r'url="([^"]+)"', source)
    bodies = re.findall(r"body = jsonable_encoder\((\w+)\)", source)
    pattern = re.compile(re.sub(r"\{\w+\}", "([^/]+)", template))
    parameters = frozenset(re.findall(r'query_params\["(\w+)"\]', source))
    body = TypeAdapter(inspect.get_annotations(build)[bodies[0]]) if bodies else None
    return Endpoint(method, template, pattern, parameters, body)


ENDPOINTS = read_endpoints()


def find_endpoint(method: str, path: str) -> Endpoint | None:
    """Returns the operation of a request."""
    return next(
        (known for known in ENDPOINTS if known.method == method and known.pattern.fullmatch(path)), None
    )


def refusal(method: str, path: str, query: dict[str, str], content: bytes) -> str:
    """Returns why the API has no such request; empty if it has."""
    endpoint = find_endpoint(method, path)
    if endpoint is None:
        return f"no operation {method} {path}"
    if unknown := query.keys() - endpoint.parameters:
        return f"{method} {endpoint.template} has no parameter {', '.join(sorted(unknown))}"
    if endpoint.body is None:
        return f"{method} {endpoint.template} has no body" if content else ""
    try:
        # Strict: Qdrant does not turn "1" into 1.
        endpoint.body.validate_json(content, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{method} {endpoint.template}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    return ""


def fields_of(value: Any, prefix: str = "") -> Iterator[str]:
    """Yields the paths of the fields in a body. Lists add `[]`; keys that callers choose become `*`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            name = f"{prefix}.{key}" if prefix else key
            free = prefix.endswith(("payload", "vector", "vectors"))
            yield from fields_of(inner, f"{prefix}.*" if free else name)
    elif isinstance(value, list):
        for inner in value:
            yield from fields_of(inner, f"{prefix}[]")
    elif value is not None:
        yield prefix


@dataclass
class Gate:
    """A proxy in front of a Qdrant server: refuses what the API does not have, and keeps the rest.

    It adds the API key, and passes everything on if it is not strict.
    """

    target: str
    api_key: str = ""
    is_strict: bool = True
    exchanges: list[Exchange] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Pass a request on if the API has it."""
        content = await request.read()
        query = dict(parse_qsl(request.query_string))
        if self.is_strict and (reason := refusal(request.method, request.path, query, content)):
            self.refused.append(reason)
            return web.json_response({"status": {"error": f"not in Qdrant's API: {reason}"}}, status=400)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_HEADERS}
        if self.api_key:
            headers["api-key"] = self.api_key
        async with request.app[SESSION].request(
            request.method, self.target + request.path_qs, data=content or None, headers=headers
        ) as reply:
            answered = await reply.read()
            kept = {name: value for name, value in reply.headers.items() if name.lower() not in HOP_HEADERS}
            self.exchanges.append(
                Exchange(request.method, request.path, query, json.loads(content or b"null"), reply.status)
            )
            return web.Response(body=answered, status=reply.status, headers=kept)


@contextmanager
def gate_to(target: str, *, api_key: str = "", is_strict: bool = True) -> Iterator[Gate]:
    """Serves a gate in a thread of its own, as long as the block runs."""
    gate = Gate(target, api_key, is_strict)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(_start(gate), loop).result(10)
    try:
        yield gate
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _start(gate: Gate) -> web.AppRunner:
    app = web.Application(client_max_size=BODY_BYTES_MAX)

    async def session(app: web.Application) -> AsyncIterator[None]:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as opened:
            app[SESSION] = opened
            yield

    app.cleanup_ctx.append(session)
    app.router.add_route("*", "/{path:.*}", gate.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    gate.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    return runner


def open_models() -> set[str]:
    """Returns the request models that would accept unknown fields, so that the gate could not see them."""
    seen: set[type[BaseModel]] = set()
    waiting = [_type_of(endpoint.body) for endpoint in ENDPOINTS if endpoint.body is not None]
    while waiting:
        current = waiting.pop()
        if get_origin(current) in (Union, UnionType, list, dict, tuple, set):
            waiting.extend(get_args(current))
        elif inspect.isclass(current) and issubclass(current, BaseModel) and current not in seen:
            seen.add(current)
            waiting.extend(info.annotation for info in current.model_fields.values())
        elif get_args(current):
            waiting.extend(get_args(current))
    return {model.__name__ for model in seen if model.model_config.get("extra") != "forbid"}


def _type_of(adapter: TypeAdapter[Any]) -> Any:
    return adapter._type
