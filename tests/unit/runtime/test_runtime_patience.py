import asyncio

import pytest
from nats.js.errors import ServiceUnavailableError

from prism_runtime import patience
from prism_runtime.patience import StartError, StartPatience

NO_LEADER = ServiceUnavailableError(code=503, err_code=10008)


async def fail() -> None:
    raise NO_LEADER


def test_a_start_without_a_leader_ends_when_the_patience_does(monkeypatch):
    monkeypatch.setattr(patience, "PATIENCE_S", 0.01)

    async def start() -> None:
        starting = StartPatience()
        starting.begin()
        await starting.outlast("a bucket", fail)

    with pytest.raises(StartError):
        asyncio.run(start())


def test_after_the_start_callers_hear_of_an_outage():
    async def start() -> None:
        starting = StartPatience()
        starting.begin()
        asyncio.get_running_loop().call_soon(starting.end)  # while the request is repeated
        await starting.outlast("a bucket", fail)

    with pytest.raises(ServiceUnavailableError):
        asyncio.run(start())
