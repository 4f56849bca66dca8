"""`python -m bench.revocation`: how soon every gateway refuses a token that was revoked at one of them.

Gateways are processes on one nats-server. A token is created and revoked at the first one, and each is asked until it refuses
the token. The time counts from the request that revokes.
"""

import argparse
import asyncio
import hashlib
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

import httpx2

from bench.broker import nats_server
from bench.spread import spread

SECRET = f"prism_{secrets.token_hex(16)}"
TOKENS = "/api/v1/developer-tokens"
START_S = 60.0
POLL_S = 0.002
BAR_S = 1.0


def main() -> None:
    """Measure and print; exit with 1 if a gateway admitted a revoked token for longer than a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateways", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=50)
    options = parser.parse_args()
    with nats_server() as url, tempfile.TemporaryDirectory() as folder:
        times = spread(asyncio.run(_measure(url, Path(folder), options.gateways, options.tokens)))
    print(
        f"{options.gateways} gateways, {times.asked} tokens: refused by all after {times.p50:.0f} ms p50, "
        f"{times.p95:.0f} ms p95, {times.max:.0f} ms at most"
    )
    sys.exit(int(times.max > BAR_S * 1000))


async def _measure(nats_url: str, folder: Path, gateways: int, tokens: int) -> list[float]:
    async with AsyncExitStack() as open_until_done:
        clients = [
            await open_until_done.enter_async_context(_gateway(nats_url, folder / str(number)))
            for number in range(gateways)
        ]
        return [await _revoke(clients) for _ in range(tokens)]


@asynccontextmanager
async def _gateway(nats_url: str, run_dir: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """Yields a client of a new gateway, with the first token."""
    settings = {
        "PRISM_CONFIG": os.devnull,
        "PRISM_NATS_URL": nats_url,
        "PRISM_RUN_DIR": str(run_dir),
        "PRISM_GATEWAY_PORT": "0",
        "PRISM_BOOTSTRAP_TOKEN_SHA256": hashlib.sha256(SECRET.encode()).hexdigest(),
    }
    log = await asyncio.to_thread(_log, run_dir)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "prism_gateway.main", env=os.environ | settings, stdout=log, stderr=log
    )
    try:
        about = await asyncio.to_thread(_announced, run_dir / "gateway.json")
        async with httpx2.AsyncClient(base_url=f"http://{about['host']}:{about['port']}") as client:
            await _until(client, SECRET, is_admitted=True)
            yield client
    finally:
        process.terminate()
        await process.wait()
        log.close()


def _log(run_dir: Path) -> BinaryIO:
    run_dir.mkdir()
    return (run_dir / "log").open("wb")


def _announced(file: Path) -> dict[str, Any]:
    """Returns what a gateway says about itself once it runs."""
    ends_at = time.monotonic() + START_S
    while not file.exists():
        if time.monotonic() > ends_at:
            raise TimeoutError((file.parent / "log").read_text())
        time.sleep(POLL_S)
    about: dict[str, Any] = json.loads(file.read_text())
    return about


async def _revoke(gateways: list[httpx2.AsyncClient]) -> float:
    """Returns the seconds from the request that revokes a new token until every gateway refuses it."""
    first = gateways[0]
    created = await first.post(TOKENS, json={"label": "bench"}, headers=_bearer(SECRET))
    created.raise_for_status()
    secret, token = created.json()["secret"], created.json()["token"]["id"]
    for gateway in gateways:
        await _until(gateway, secret, is_admitted=True)
    began = time.perf_counter()
    (await first.delete(f"{TOKENS}/{token}", headers=_bearer(SECRET))).raise_for_status()
    for gateway in gateways:
        await _until(gateway, secret, is_admitted=False)
    return time.perf_counter() - began


async def _until(gateway: httpx2.AsyncClient, secret: str, *, is_admitted: bool) -> None:
    expected = HTTPStatus.OK if is_admitted else HTTPStatus.UNAUTHORIZED
    async with asyncio.timeout(START_S):
        while True:
            answer = await gateway.get("/api/v1/whoami", headers=_bearer(secret))
            if answer.status_code == expected:
                return
            await asyncio.sleep(POLL_S)


def _bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


if __name__ == "__main__":
    main()
