"""A real server closes connections whose request makes no progress."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from prism_runtime.http_deadlines import DeadlineProtocol

SECONDS = 0.3
CLOSED_SECONDS_MAX = 10.0


class Impatient(DeadlineProtocol):
    head_seconds = body_seconds = SECONDS


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{len(await request.body())} bytes")


async def events(_: Request) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        for number in range(4):
            await asyncio.sleep(SECONDS / 2)
            yield f"{number}\n"

    return StreamingResponse(lines())


@pytest.fixture
async def port() -> AsyncIterator[int]:
    app = Starlette(routes=[Route("/", echo, methods=["POST"]), Route("/events", events)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=Impatient, log_config=None, lifespan="off"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    """Returns everything that is still sent, once the server has closed."""
    async with asyncio.timeout(CLOSED_SECONDS_MAX):
        return await reader.read()


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
    ],
    ids=["nothing", "half a head", "half a body"],
)
async def test_a_stalled_request_is_closed(port: int, start: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(start)
    assert b"200 OK" not in await rest_of(reader)
    writer.close()


async def test_a_slow_body_with_progress_is_accepted(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\n")
    for _ in range(6):
        await asyncio.sleep(SECONDS / 2)
        writer.write(b"x")
    assert b"6 bytes" in await rest_of(reader)
    writer.close()


async def test_a_slow_answer_is_not_cut(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b"3\n" in await rest_of(reader)
    writer.close()
