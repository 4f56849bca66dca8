import asyncio

import httpx
import pytest
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from prism_runtime.health import Check, health_app
from prism_runtime.stoppable_app import Phase, StoppableApp


async def well() -> None:
    return None


async def unwell() -> None:
    raise ConnectionError("no route")


def get(path: str, phase: Phase, check: Check = well) -> httpx.Response:
    app = StoppableApp(health_app("search", {"nats": check}, CollectorRegistry()))
    app.phase = phase

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            return await client.get(path)

    return asyncio.run(ask())


def test_a_process_is_not_ready_before_its_start_is_over():
    reply = get("/readyz", Phase.STARTING)
    assert (reply.status_code, reply.json()["status"]) == (503, "starting")
    assert get("/readyz", Phase.SERVING).status_code == 200


def test_a_failed_check_explains_why_a_start_takes_long():
    reply = get("/readyz", Phase.STARTING, unwell)
    assert (reply.status_code, reply.json()["checks"]) == (503, {"nats": "ConnectionError: no route"})


def test_a_stopping_process_is_not_ready_and_closes_connections():
    reply = get("/readyz", Phase.STOPPING)
    assert (reply.status_code, reply.json()["status"]) == (503, "stopping")
    assert reply.headers["connection"] == "close"


@pytest.mark.parametrize("phase", Phase)
def test_a_process_is_alive_in_every_phase(phase: Phase):
    assert get("/livez", phase).status_code == 200


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


async def ask_while_it_starts(patience_s: float, *, ends: bool) -> asyncio.Task[httpx.Response]:
    """Ask a process that starts. `ends`: its start is over as soon as the request waits."""
    app = StoppableApp(Starlette(routes=[Route("/hello", hello)]), start_patience_s=patience_s)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        asking = asyncio.create_task(client.get("/hello"))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not asking.done()
        if ends:
            app.phase = Phase.SERVING
        await asking
        return asking


def test_a_request_waits_for_the_end_of_a_start():
    never_s = 1000.0
    assert asyncio.run(ask_while_it_starts(never_s, ends=True)).result().text == "hello"


def test_the_app_answers_if_a_start_takes_too_long():
    assert asyncio.run(ask_while_it_starts(0.05, ends=False)).result().text == "hello"
