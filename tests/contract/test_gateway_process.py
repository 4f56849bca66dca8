"""The gateway as a process: it says where it is, is ready, answers, and stops on a signal."""

import asyncio
import hashlib
import json
import os
import signal
import sys

import httpx2

SECRET = "prism_process"
DEADLINE_S = 20


async def test_the_process_announces_itself_answers_and_stops(nats_server, tmp_path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "prism_gateway.main",
        env=os.environ
        | {
            "PRISM_NATS_URL": nats_server.url,
            "PRISM_RUN_DIR": str(tmp_path),
            "PRISM_GATEWAY_PORT": "0",
            "PRISM_BOOTSTRAP_TOKEN_SHA256": hashlib.sha256(SECRET.encode()).hexdigest(),
            "PRISM_BOOTSTRAP_TENANT": "acme",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said = tmp_path / "gateway.json"
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not said.exists():
                await asyncio.sleep(0.02)
        about = json.loads(said.read_text())
        async with httpx2.AsyncClient(
            base_url=f"http://{about['host']}:{about['port']}", headers={"Authorization": f"Bearer {SECRET}"}
        ) as http:
            assert (await http.get("/readyz")).status_code == 200
            assert (await http.get("/api/v1/whoami")).json()["tenant"] == "acme"
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE_S):
            out, log = await process.communicate()
    assert process.returncode == 0
    assert out == b""
    assert SECRET.encode() not in log
