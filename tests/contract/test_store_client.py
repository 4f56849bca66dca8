import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from prism_store.client import StoreClient
from prism_store.gate import connect
from prism_store.settings import StoreSettings

OK = b'HTTP/1.1 200 OK\r\ncontent-length: 22\r\n\r\n{"result":{"count":3}}'
MISSING = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}"


class Server:
    """Answers each request with the next of its answers; None breaks the connection instead."""

    def __init__(self, *answers: bytes | None) -> None:
        self._answers = list(answers)
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(size)
            answer = self._answers[self.requests]
            self.requests += 1
            if answer is None:
                break
            writer.write(answer)
        writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


@asynccontextmanager
async def talking_to(server: Server) -> AsyncIterator[StoreClient]:
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    client = connect(StoreSettings(url=f"http://127.0.0.1:{port}", timeout_s=5))
    try:
        yield client
    finally:
        await client.close()
        listener.close()


async def test_a_broken_connection_is_retried_once():
    server = Server(None, OK)
    async with talking_to(server) as client:
        assert await client.ask("c", "points/count", {}) == {"count": 3}
    assert server.requests == 2


async def test_a_server_that_breaks_every_connection_is_an_outage():
    server = Server(None, None)
    async with talking_to(server) as client:
        with pytest.raises(ResponseHandlingException):
            await client.ask("c", "points/count", {})
    assert server.requests == 2


async def test_a_refusal_raises_the_library_error_without_a_retry():
    server = Server(MISSING)
    async with talking_to(server) as client:
        with pytest.raises(UnexpectedResponse) as caught:
            await client.ask("c", "points/count", {})
    assert caught.value.status_code == 404
    assert server.requests == 1
