import asyncio

import httpx
import pytest
from prometheus_client import CollectorRegistry

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
