"""A service whose NATS is not reachable: it says why, and connects later."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from prism_cli.stack.probes import free_port

DEADLINE_S = 120


@asynccontextmanager
async def a_gateway(**variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "prism_gateway.main",
        env=os.environ | {"PRISM_GATEWAY_PORT": "0"} | variables,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_readyz_says_why_nats_is_not_reachable(nats_server) -> None:
    port = free_port()
    url = nats_server.url
    nats_server.stop()
    async with a_gateway(PRISM_NATS_URL=url, PRISM_GATEWAY_PORT=str(port)) as process:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            assert "not connected to NATS: [Errno 111]" in await nats_problem(http)
            nats_server.start()
            async with asyncio.timeout(DEADLINE_S):
                while await nats_problem(http) != "ok":
                    await asyncio.sleep(0.1)
        assert process.returncode is None


async def nats_problem(http: httpx2.AsyncClient) -> str:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            try:
                checks: dict[str, str] = (await http.get("/readyz")).json()["checks"]
            except httpx2.TransportError:
                await asyncio.sleep(0.05)
                continue
            # A service that has just connected lists no checks until its start is over.
            problem = checks.get("nats", "no answer")
            if "no answer" not in problem:
                return problem
            await asyncio.sleep(0.05)
