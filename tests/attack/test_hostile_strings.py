"""The longest hostile values as each argument of each tool and each parameter of each route, with a
bystander.
"""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
from figures import Figures, Meanwhile
from running_stack import Json, RunningStack

# Over the limits of most arguments, and below the limit of a request.
SIZE = 200_000
SHAPES = {
    "letters": "a",
    "as": " as a",
    "dots": "a.",
    "only dots": ".",
    "angles": "<",
    "round brackets": "(",
    "square brackets": "[a-",
    "stars": "**/",
    "digits": "1",
    "blanks": " ",
    "emoji": "🦀",
}
# Every tool answers within this time, however busy the machine is.
SECONDS_MAX = 10.0
BYSTANDER_MS_MAX = 2_000
SURROGATES = rb'{"repo": "\ud800", "path": "\ud800", "content": "\ud800", "query": "\ud800"}'
MISTAKES = {"internal", "unavailable", "deadline_exceeded"}


def hostile(size: int) -> dict[str, str]:
    return {name: (shape * size)[:size] for name, shape in SHAPES.items()}


def arguments_of(tool: Json) -> Iterator[tuple[str, Json]]:
    yield from tool["inputSchema"].get("properties", {}).items()


def takes_text(schema: Json) -> bool:
    return schema.get("type") == "string" or any(takes_text(one) for one in schema.get("anyOf", ()))


def filled(tool: Json, name: str, value: Any) -> dict[str, Any]:
    """Returns the arguments of a call; required ones get harmless values."""
    known = {
        "repo": "acme/ledger",
        "symbol": "withdraw",
        "query": "withdraw money",
        "file_path": "src/accounts.py",
    }
    given: dict[str, Any] = {}
    for required in tool["inputSchema"].get("required", ()):
        is_list = tool["inputSchema"]["properties"][required].get("type") == "array"
        text = known.get(required, "withdraw")
        given[required] = [text] if is_list else text
    return given | {"repo": "acme/ledger"} | {name: value}


async def test_no_argument_stops_a_service(stack: RunningStack, figures: Figures) -> None:
    other = await stack.of_tenant("bystander")
    slow, mistakes, calls = [], [], 0
    async with stack.agent() as agent:
        listing = await agent.client.list_tools()
        tools = [tool.model_dump(by_alias=True) for tool in listing.tools]
        with (
            other.http() as http,
            Meanwhile(lambda: http.get("/api/v1/repos").raise_for_status()) as bystander,
        ):
            for tool in tools:
                for name, schema in arguments_of(tool):
                    for size in (200, 4_000, SIZE):
                        for shape, text in hostile(size).items():
                            value = (
                                text
                                if takes_text(schema)
                                else [text]
                                if schema.get("type") == "array"
                                else None
                            )
                            if value is None:
                                break
                            calls += 1
                            started = asyncio.get_running_loop().time()
                            _, code = await agent.outcome(tool["name"], **filled(tool, name, value))
                            seconds = asyncio.get_running_loop().time() - started
                            if code in MISTAKES:
                                mistakes.append((tool["name"], name, shape, size, code))
                            if seconds > SECONDS_MAX:
                                slow.append((tool["name"], name, shape, size, round(seconds, 1)))
    figures.add(
        f"{calls} calls with hostile arguments",
        f"{len(mistakes)} answered {'/'.join(sorted(MISTAKES))}, {len(slow)} over {SECONDS_MAX:.0f} s; bystander p95 {bystander.p95_ms:.0f} ms, {len(bystander.failures)} failed",
        "0, 0, 0 failed",
    )
    assert not mistakes, mistakes[:10]
    assert not slow, slow[:10]
    assert not bystander.failures, bystander.failures[:3]
    assert bystander.p95_ms < BYSTANDER_MS_MAX


def test_no_parameter_of_a_route_is_an_internal_error(stack: RunningStack, figures: Figures) -> None:
    odd = [
        "",
        " ",
        "*",
        ">",
        "a.b.>",
        "..",
        "\x1b[31m",
        "\x00",
        "1" * 5_000,
        "a" * 5_000,
        "%2A",
        "\N{SNOWMAN}",
    ]
    failed, calls = [], 0
    with stack.http() as http:
        schema = http.get("/openapi.json").json()
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                for value in odd:
                    for request in _requests(method, path, operation, value, schema):
                        calls += 1
                        problem = _problem(http, request)
                        if problem:
                            failed.append((method, path, value[:20], problem))
    figures.add(f"{calls} REST calls with odd parameters and fields", f"{len(failed)} answered 5xx", "0")
    assert not failed, failed[:10]


def _requests(method: str, path: str, operation: Json, value: str, schema: Json) -> Iterator[Json]:
    """Yields one request for each parameter, and for each field of the body, that gets the value."""
    ordinary = {"method": method, "url": _path(path, "x")}
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query":
            yield {**ordinary, "params": {parameter["name"]: value}}
    if "{" in path:
        yield {**ordinary, "url": _path(path, _quoted(value))}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    fields = _resolved(body, schema).get("properties", {})
    for field in fields:
        yield {**ordinary, "json": {"repo": "acme/ledger", field: value}}
    if fields:
        yield {**ordinary, "json": dict.fromkeys(fields, value)}
        yield {**ordinary, "content": SURROGATES, "headers": {"Content-Type": "application/json"}}


def _problem(http: httpx2.Client, request: Json) -> str:
    """Sends the request; returns a transport error or a 5xx answer, which no mistake of a caller may cause.
    Empty otherwise.
    """
    try:
        answer = http.request(**request)
    except httpx2.HTTPError as error:
        return f"{type(error).__name__}: {error}"
    return f"{answer.status_code} {answer.text[:200]}" if answer.status_code >= 500 else ""


def _path(path: str, value: str) -> str:
    while "{" in path:
        path = path[: path.index("{")] + value + path[path.index("}") + 1 :]
    return path


def _quoted(value: str) -> str:
    return quote(value, safe="") or "%20"


def _resolved(schema: Json, whole: Json) -> Json:
    reference = schema.get("$ref", "")
    return whole["components"]["schemas"][reference.rsplit("/", 1)[-1]] if reference else schema
