"""The size of bodies, by declared length or by received bytes."""

import pytest
from starlette.exceptions import HTTPException

from prism_gateway.limits import BodyLimit

LIMIT = 10


async def send_body(*parts: bytes, declared: int | None = None) -> tuple[int, bytes]:
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    messages[-1]["more_body"] = False
    sent: list[dict] = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    async def app(scope, receive, send):
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    headers = [] if declared is None else [(b"content-length", str(declared).encode())]
    await BodyLimit(app, lambda _: LIMIT)({"type": "http", "path": "/", "headers": headers}, receive, send)
    return sent[0]["status"], sent[1]["body"]


async def test_a_body_at_the_limit_passes() -> None:
    assert await send_body(b"12345", b"67890", declared=LIMIT) == (200, b"1234567890")


async def test_a_declared_length_over_the_limit_is_refused_unread() -> None:
    status, body = await send_body(b"", declared=LIMIT + 1)
    assert status == 413
    assert b"payload_too_large" in body


async def test_a_body_that_grows_over_the_limit_is_refused() -> None:
    with pytest.raises(HTTPException) as caught:
        await send_body(b"12345", b"678901")
    assert caught.value.status_code == 413
