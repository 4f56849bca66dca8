"""How long a call of `prism mcp` waits for a gateway that cannot be reached."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from prism_cli.bridge.door import ANY_URL, GatewayDoor
from prism_cli.stack.layout import DataDir
from prism_cli.stack.lock import UpLock
from prism_cli.target import ServerTarget, find_target

URL = "http://127.0.0.1:8780"
REFUSALS = 2
NO_PATIENCE_S, RESTART_PATIENCE_S = 0.0, 300.0


class RestartingGateway(httpx2.AsyncBaseTransport):
    """Refuses the first connections, as the port of a killed gateway does."""

    def __init__(self) -> None:
        self.refused = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.refused < REFUSALS:
            self.refused += 1
            raise httpx2.ConnectError("Connection refused")
        return httpx2.Response(200, text="answered")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    monkeypatch.setenv("PRISM_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("PRISM_URL", raising=False)
    return DataDir(tmp_path)


@pytest.fixture
def supervisor(data: DataDir) -> Iterator[UpLock]:
    lock = UpLock(data.lock_file)
    assert lock.take()
    yield lock
    lock.release()


async def answer_of(door: GatewayDoor) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=door) as client:
        return await client.post(ANY_URL)


def impatient(target: ServerTarget) -> GatewayDoor:
    return GatewayDoor(lambda: target, RestartingGateway(), NO_PATIENCE_S, RESTART_PATIENCE_S)


@pytest.mark.usefixtures("supervisor")
async def test_calls_wait_while_a_supervisor_can_restart(data: DataDir) -> None:
    answer = await answer_of(impatient(ServerTarget(URL, "prism_t", data)))
    assert (answer.status_code, answer.text) == (200, "answered")


async def test_calls_fail_soon_without_a_supervisor(data: DataDir) -> None:
    answer = await answer_of(impatient(ServerTarget(URL, "prism_t", data)))
    message = answer.json()["error"]["message"]
    assert message.startswith(f"unavailable: Prism at {URL} cannot be reached (Connection refused).")
    assert "prism status" in message


@pytest.mark.usefixtures("supervisor")
async def test_the_local_supervisor_restarts_no_remote_gateway() -> None:
    answer = await answer_of(impatient(ServerTarget(URL, "prism_t")))
    assert "Check PRISM_URL and the network." in answer.json()["error"]["message"]


@pytest.mark.usefixtures("supervisor")
async def test_calls_wait_for_a_stack_that_starts(data: DataDir) -> None:
    looks = 0

    def find() -> ServerTarget:
        nonlocal looks
        looks += 1
        if looks > REFUSALS:
            return ServerTarget(URL, "prism_t", data)
        return find_target()

    answer = await answer_of(GatewayDoor(find, RestartingGateway(), NO_PATIENCE_S, RESTART_PATIENCE_S))
    assert answer.status_code == 200


async def test_a_stack_that_does_not_run_is_reported(data: DataDir) -> None:
    door = GatewayDoor(find_target, RestartingGateway(), NO_PATIENCE_S, RESTART_PATIENCE_S)
    message = (await answer_of(door)).json()["error"]["message"]
    assert message.startswith("not_running: Prism is not running on")
