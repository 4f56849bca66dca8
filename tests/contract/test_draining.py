"""A service that stops gets no new work, finishes what it has begun, and answers every request that it got."""

import asyncio
import hashlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from nats.errors import Error as NatsError

from prism_contracts import topics
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileRemoved
from prism_contracts.rpc.imports import JOB, JobReply, JobRequest
from prism_runtime import bus as bus_module
from prism_runtime.bus import Bus
from prism_runtime.settings import ServiceSettings

SECRET = "prism_draining"
DEADLINE_S = 120
# Longer than any test waits: a message that a stopped copy kept would come too late.
ACK_WAIT_S = 300


@pytest.fixture
async def make_bus(nats_server) -> AsyncIterator[Callable[[str], Bus]]:
    made: list[Bus] = []

    def make(service: str) -> Bus:
        made.append(Bus(service, ServiceSettings(nats_url=nats_server.url, ack_wait_s=ACK_WAIT_S)))
        return made[-1]

    yield make
    for bus in made:
        await bus.stop()


class Jobs:
    """Answers requests for a job when `may_answer` is set."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = asyncio.Event()

    async def handle(self, request: JobRequest) -> JobReply:
        self.asked.append(request.job)
        await self.may_answer.wait()
        raise PrismError(ErrorCode.JOB_NOT_FOUND, "No such job.", "List the jobs.")

    async def until_asked(self, times: int = 1) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while len(self.asked) < times:
                await asyncio.sleep(0.01)


async def ask(bus: Bus, job: str = "j") -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        await bus.ask(JOB, JobRequest(tenant="t", job=job), timeout_s=DEADLINE_S)
    return caught.value.code


async def test_a_stopping_copy_answers_all_that_it_got(make_bus) -> None:
    client, stopping, other = make_bus("gateway"), make_bus("ingest"), make_bus("ingest")
    slow, quick = Jobs(), Jobs()
    quick.may_answer.set()
    stopping.serve(JOB, slow.handle)
    other.serve(JOB, quick.handle)
    for bus in (client, stopping, other):
        await bus.start()
    begun = [asyncio.create_task(ask(client)) for _ in range(50)]
    await slow.until_asked()
    stop = asyncio.create_task(stopping.stop())
    late = [asyncio.create_task(ask(client)) for _ in range(50)]
    async with asyncio.timeout(DEADLINE_S):
        while len(slow.asked) + len(quick.asked) < len(begun) + len(late):
            await asyncio.sleep(0.01)
    slow.may_answer.set()
    assert set(await asyncio.gather(*begun, *late)) == {ErrorCode.JOB_NOT_FOUND}
    await stop


async def test_a_request_that_takes_too_long_is_told_so(make_bus, monkeypatch) -> None:
    monkeypatch.setattr(bus_module, "FINISH_S", 0.1)
    client, stopping = make_bus("gateway"), make_bus("ingest")
    jobs = Jobs()
    stopping.serve(JOB, jobs.handle)
    await client.start()
    await stopping.start()
    asking = asyncio.create_task(ask(client))
    await jobs.until_asked()
    await stopping.stop()
    assert await asking is ErrorCode.UNAVAILABLE


async def test_another_copy_answers_pings_while_one_drains(make_bus) -> None:
    client, stopping, other = make_bus("gateway"), make_bus("ingest"), make_bus("ingest")
    stopping.checks = {"store": fails}
    for bus in (client, stopping, other):
        await bus.start()
    await stopping.leave()
    for _ in range(20):
        await client.ping("ingest")
    await other.leave()
    with pytest.raises(NatsError, match="ingest is not running"):
        await client.ping("ingest")


async def fails() -> None:
    raise ConnectionError("the store does not answer")


def removed(ordinal: int) -> FileRemoved:
    return FileRemoved(tenant="t", repo="r", path="a.py", version=1, job="j", ordinal=ordinal, lane=Lane.LIVE)


@pytest.mark.parametrize("is_in_time", [True, False])
async def test_another_copy_gets_what_a_stopping_one_does_not_finish(
    make_bus, monkeypatch, is_in_time
) -> None:
    if not is_in_time:
        monkeypatch.setattr(bus_module, "FINISH_S", 0.1)
    stopping, other = make_bus("indexer"), make_bus("indexer")
    begun: list[int] = []
    finished: list[int] = []
    taken_over: list[int] = []
    may_finish = asyncio.Event()

    async def work(event: FileRemoved) -> None:
        begun.append(event.ordinal)
        await may_finish.wait()
        finished.append(event.ordinal)

    async def take_over(event: FileRemoved) -> None:
        taken_over.append(event.ordinal)

    stopping.consume(topics.FILE_REMOVED, work, workers=2)
    await stopping.start()
    for ordinal in range(6):  # two are handled, one or two wait in the process, the others in the stream
        await stopping.publish(removed(ordinal))
    async with asyncio.timeout(DEADLINE_S):
        while len(begun) < 2 or len(stopping._heartbeats._working) < 3:
            await asyncio.sleep(0.01)
    stop = asyncio.create_task(stopping.stop())
    async with asyncio.timeout(DEADLINE_S):
        while not stopping._heartbeats.is_stopping:
            await asyncio.sleep(0.01)
    if is_in_time:
        may_finish.set()
    await stop
    other.consume(topics.FILE_REMOVED, take_over, workers=2)
    await other.start()
    async with asyncio.timeout(DEADLINE_S):
        while len(finished) + len(taken_over) < 6:
            await asyncio.sleep(0.01)
    assert sorted(finished + taken_over) == list(range(6))
    assert finished == ([0, 1] if is_in_time else [])


async def test_a_stopping_copy_gives_back_a_message_that_waits_for_the_end_of_an_outage(
    make_bus, monkeypatch
) -> None:
    monkeypatch.setattr(bus_module, "FINISH_S", 3 * DEADLINE_S)
    stopping, other = make_bus("indexer"), make_bus("indexer")
    begun, taken_over = asyncio.Event(), asyncio.Event()

    async def fail(_: FileRemoved) -> None:
        begun.set()
        raise PrismError(ErrorCode.UNAVAILABLE, "Qdrant is down.", "Retry.")

    async def take_over(_: FileRemoved) -> None:
        taken_over.set()

    stopping.consume(topics.FILE_REMOVED, fail, workers=1)
    await stopping.start()
    await stopping.publish(removed(0))
    async with asyncio.timeout(DEADLINE_S):
        await begun.wait()
        await stopping.stop()
    other.consume(topics.FILE_REMOVED, take_over, workers=1)
    await other.start()
    async with asyncio.timeout(DEADLINE_S):
        await taken_over.wait()


class Gateway:
    """The gateway as a process."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.url = url

    def http(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self.url, headers={"Authorization": f"Bearer {SECRET}"}, timeout=DEADLINE_S
        )

    async def end(self) -> int:
        async with asyncio.timeout(DEADLINE_S):
            return await self.process.wait()


@asynccontextmanager
async def a_gateway(nats_url: str, run_dir: Path, drain_s: float) -> AsyncIterator[Gateway]:
    variables = {
        "PRISM_NATS_URL": nats_url,
        "PRISM_RUN_DIR": str(run_dir),
        "PRISM_GATEWAY_PORT": "0",
        "PRISM_DRAIN_S": str(drain_s),
        "PRISM_BOOTSTRAP_TOKEN_SHA256": hashlib.sha256(SECRET.encode()).hexdigest(),
    }
    with (run_dir / "gateway.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "prism_gateway.main", env=os.environ | variables, stderr=log
        )
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not (run_dir / "gateway.json").exists():
                await asyncio.sleep(0.02)
        address = json.loads((run_dir / "gateway.json").read_text())
        yield Gateway(process, f"http://{address['host']}:{address['port']}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture
async def jobs(make_bus) -> AsyncIterator[Jobs]:
    """Jobs of a running ingest service."""
    ingest, jobs = make_bus("ingest"), Jobs()
    ingest.serve(JOB, jobs.handle)
    await ingest.start()
    yield jobs
    jobs.may_answer.set()


async def until_stopping(http: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while (await http.get("/readyz")).json()["status"] != "stopping":
            await asyncio.sleep(0.02)


async def test_a_draining_gateway_serves_everything_but_readiness(nats_server, jobs, tmp_path) -> None:
    async with a_gateway(nats_server.url, tmp_path, drain_s=3) as gateway, gateway.http() as http:
        assert (await http.get("/api/v1/whoami")).headers.get("Connection") is None
        gateway.process.send_signal(signal.SIGTERM)
        await until_stopping(http)
        assert (await http.get("/readyz")).status_code == 503
        assert (await http.get("/livez")).status_code == 200
        answer = await http.get("/api/v1/whoami")
        assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
        asking = asyncio.create_task(http.get("/api/v1/jobs/j"))
        await jobs.until_asked()
        jobs.may_answer.set()
        assert (await asking).status_code == 404
        assert await gateway.end() == 0


async def until_closed(gateway: Gateway) -> None:
    async with asyncio.timeout(DEADLINE_S), gateway.http() as http:
        while True:
            try:
                await http.get("/livez")
            except httpx2.TransportError:
                return
            await asyncio.sleep(0.02)


async def test_a_running_request_is_answered_before_the_gateway_ends(nats_server, jobs, tmp_path) -> None:
    async with a_gateway(nats_server.url, tmp_path, drain_s=0) as gateway, gateway.http() as http:
        asking = asyncio.create_task(http.get("/api/v1/jobs/j"))
        await jobs.until_asked()
        gateway.process.send_signal(signal.SIGTERM)
        await until_closed(gateway)
        jobs.may_answer.set()
        assert (await asking).json()["error"]["code"] == "job_not_found"
        assert await gateway.end() == 0


async def test_a_long_wait_ends_with_an_error_when_the_gateway_ends(nats_server, jobs, tmp_path) -> None:
    async with a_gateway(nats_server.url, tmp_path, drain_s=0) as gateway, gateway.http() as http:
        asking = asyncio.create_task(http.get("/api/v1/jobs/j"))
        await jobs.until_asked()
        gateway.process.send_signal(signal.SIGTERM)
        error = (await asking).json()["error"]
        assert (error["code"], error["message"]) == (
            "unavailable",
            "This copy of the gateway service is stopping.",
        )
        assert await gateway.end() == 0


async def test_a_second_signal_ends_the_process_at_once(nats_server, jobs, tmp_path) -> None:
    async with a_gateway(nats_server.url, tmp_path, drain_s=300) as gateway, gateway.http() as http:
        gateway.process.send_signal(signal.SIGTERM)
        await until_stopping(http)
        gateway.process.send_signal(signal.SIGTERM)
        assert await gateway.end() == 128 + signal.SIGTERM
