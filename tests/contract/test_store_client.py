import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from prism_cli.logins.certificates import Authority
from prism_runtime.settings import InvalidSettingsError
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
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
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


async def test_a_call_waits_for_a_server_that_restarts(monkeypatch):
    listener = await asyncio.start_server(Server().serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    server = Server(OK)
    client = connect(StoreSettings(url=f"http://127.0.0.1:{port}", timeout_s=5))
    refused = asyncio.Event()
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        refused.set()
        await sleep(seconds)

    monkeypatch.setattr("prism_store.client.asyncio.sleep", noted)
    asking = asyncio.create_task(client.ask("c", "points/count", {}))
    await refused.wait()
    back = await asyncio.start_server(server.serve, "127.0.0.1", port)
    try:
        assert await asking == {"count": 3}
    finally:
        await client.close()
        back.close()
    assert server.requests == 1


async def test_a_server_that_stays_away_is_an_outage(monkeypatch):
    monkeypatch.setattr("prism_store.client.RESTART_S", 0.3)
    listener = await asyncio.start_server(Server().serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    client = connect(StoreSettings(url=f"http://127.0.0.1:{port}", timeout_s=5))
    with pytest.raises(ResponseHandlingException, match="Cannot connect"):
        await client.ask("c", "points/count", {})
    await client.close()


async def test_a_refusal_raises_the_library_error_without_a_retry():
    server = Server(MISSING)
    async with talking_to(server) as client:
        with pytest.raises(UnexpectedResponse) as caught:
            await client.ask("c", "points/count", {})
    assert caught.value.status_code == 404
    assert server.requests == 1


COLLECTIONS = b'{"result":{"collections":[]},"status":"ok","time":0}'
LISTED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"


async def test_qdrant_may_have_a_certificate_of_a_private_authority(tmp_path: Path):
    authority = Authority()
    (tmp_path / "ca.crt").write_text(authority.pair.certificate_pem)
    of_server = authority.issue("qdrant", ["localhost"])
    (tmp_path / "server.pem").write_text(of_server.certificate_pem + of_server.key_pem)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.pem")
    server = Server(LISTED % (len(COLLECTIONS), COLLECTIONS), OK)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    url = f"https://localhost:{listener.sockets[0].getsockname()[1]}"
    trusting = connect(StoreSettings(url=url, timeout_s=5, ca_file=str(tmp_path / "ca.crt")))
    other = connect(StoreSettings(url=url, timeout_s=5))
    try:
        assert (await trusting.get_collections()).collections == []
        assert await trusting.ask("c", "points/count", {}) == {"count": 3}
        with pytest.raises(ResponseHandlingException, match="CERTIFICATE_VERIFY_FAILED"):
            await other.get_collections()
        with pytest.raises(ResponseHandlingException, match="CERTIFICATE_VERIFY_FAILED"):
            await other.ask("c", "points/count", {})
    finally:
        await trusting.close()
        await other.close()
        listener.close()


@pytest.mark.parametrize(
    ("file", "message"),
    [("/nowhere/ca.crt", "The file cannot be read: No such file"), (os.devnull, "has no certificates")],
)
def test_a_ca_file_that_cannot_be_used_is_named(file: str, message: str):
    with pytest.raises(InvalidSettingsError, match=f"PRISM_QDRANT_CA_FILE: .*{message}"):
        connect(StoreSettings(url="https://localhost:6333", ca_file=file))


def test_a_ca_file_needs_tls():
    with pytest.raises(InvalidSettingsError, match="begin PRISM_QDRANT_URL with https://"):
        StoreSettings(url="http://localhost:6333", ca_file="ca.crt")
