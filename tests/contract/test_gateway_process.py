"""The gateway as a process: it publishes its address, becomes ready, answers, and stops on a signal."""

import asyncio
import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import httpx2

from prism_contracts import names
from prism_contracts.accounting import UsageHour
from prism_runtime.bus import Bus
from prism_runtime.settings import ServiceSettings
from prism_runtime.streams import read_stream
from prism_runtime.upkeep import EXIT_BUCKET_LOST

SECRET = "prism_process"
DEADLINE_S = 120


async def start(nats_url: str, run_dir: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "prism_gateway.main",
        env=os.environ
        | {
            "PRISM_NATS_URL": nats_url,
            "PRISM_RUN_DIR": str(run_dir),
            "PRISM_GATEWAY_PORT": "0",
            "PRISM_BOOTSTRAP_TOKEN_SHA256": hashlib.sha256(SECRET.encode()).hexdigest(),
            "PRISM_BOOTSTRAP_TENANT": "acme",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_the_process_announces_itself_answers_and_stops(nats_server, tmp_path) -> None:
    process = await start(nats_server.url, tmp_path)
    run_file = tmp_path / "gateway.json"
    search = Bus("search", ServiceSettings(nats_url=nats_server.url))
    await search.start()
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not run_file.exists():
                await asyncio.sleep(0.02)
        about = json.loads(run_file.read_text())
        async with httpx2.AsyncClient(
            base_url=f"http://{about['host']}:{about['port']}", headers={"Authorization": f"Bearer {SECRET}"}
        ) as http:
            assert (await http.get("/readyz")).status_code == 200
            assert (await http.get("/api/v1/whoami")).json()["tenant"] == "acme"

            search.checks = {"qdrant": hangs}
            await until_search_is(http, "Error: search is not ready; failing checks: qdrant")
            search.checks = {}
            await search.stop()
            await until_search_is(http, "Error: search is not running")
            # Every other gateway lacks it too, and this one still takes pushes.
            assert (await http.get("/readyz")).status_code == 200
            await http.get("/api/v1/developer-tokens")
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE_S):
            out, log = await process.communicate()
    assert process.returncode == 0
    assert out == b""
    assert SECRET.encode() not in log
    assert "GET /developer-tokens" in await counted_calls(nats_server.url)


async def counted_calls(nats_url: str) -> set[str]:
    """Returns what the gateway counted, also within the seconds before it stopped."""
    bus = Bus("search", ServiceSettings(nats_url=nats_url))
    await bus.start()
    subject = names.accounting_subject(names.USAGE, "acme", ">")
    js = bus.broker.connection.jetstream()
    hours = [
        UsageHour.model_validate_json(message.data) async for message in read_stream(js, names.USAGE, subject)
    ]
    await bus.stop()
    return {row.call for hour in hours for row in hour.rows}


async def hangs() -> None:
    await asyncio.Event().wait()


async def until_search_is(http: httpx2.AsyncClient, problem: str) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while (await http.get("/readyz")).json()["optional"]["search"] != problem:
            await asyncio.sleep(0.1)


async def test_the_process_ends_when_nats_comes_back_empty(nats_server, tmp_path) -> None:
    process = await start(nats_server.url, tmp_path)
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not (tmp_path / "gateway.json").exists():
                await asyncio.sleep(0.02)
        nats_server.kill()
        shutil.rmtree(nats_server.folder / "js")
        nats_server.start()
        async with asyncio.timeout(DEADLINE_S):
            _, log = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == EXIT_BUCKET_LOST
    assert b"KV_prism_tokens" in log
